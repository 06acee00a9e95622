// @ts-check

// Worked lines: the sides of an entry, with as few digits as keep them true.

/** 33.207 / 6 = 5.5345 ≈ 5.535: an exact value this little longer is shown before it is rounded. */
const EXACT_DIGITS_MORE = 2;
/** With this many extra digits, a line has all digits of the calculation. */
const MOST_GUARD_DIGITS = 60;
/** The terms of a long sum that are written out; a sum of at most so many is written out whole. */
const TERMS_SHOWN = 12;
const MOST_TERMS = 16;
/** The digits with which terms are multiplied whose total alone is written. */
const REST_DIGITS = 28;

/** The operands of a quotient that get extra digits, in the order of the attempts; none for all. */
const OPERANDS_APART = [[0], [1], []];

/** Operations that move numbers, choose words, or are given. */
const WITHOUT_LINES = ["given", "gather", "argmax", "pick"];

/** @typedef {{sides: Expression[], relations: string[]}} Chain one relation fewer than sides */

/** @param {number[]} shape @param {number[]} index */
const flatIn = (shape, index) => index.reduce((at, each, axis) => at * shape[axis] + each, 0);

/** Whether an entry has a worked line. @param {Tape} tape @param {number} of @param {number} at */
const isWorked = (tape, of, at) => {
  const { operation, numbers, words } = tape.values[of];
  if (words || WITHOUT_LINES.includes(operation.kind)) return false;
  if (operation.name === "mask") return isHidden(numbers[at]);
  if (operation.columns) return operation.columns[at] !== null;
  return !isFullyMasked(tape, of, at);
};

/** Whether an entry belongs to a fully masked row of a softmax, which has no lines. @param {Tape} tape @param {number} of @param {number} at */
const isFullyMasked = (tape, of, at) => {
  const { operation, shape, inputs } = tape.values[of];
  const [row] = indexOf(at, shape);
  const [first, second] = inputs.map((each) => tape.values[each]);
  switch (operation.kind === "entry" ? operation.name : operation.kind) {
    case "share":
      return isZero(second.numbers[row]); // and nothing is divided
    case "below_maximum":
      if (first.shape.length === 1) return isHidden(second.numbers[row]);
    // falls through
    case "max":
    case "subtract":
      return rowsOf(first.numbers, first.shape[0])[row].every(isHidden);
    default:
      return false;
  }
};

/** The sides of one entry's line, all but the result, with some guard digits. */
class LineSides {
  /**
   * `places` are those of the result, which subtotals exceed by a few. The guard digits are for the
   * operands at `only` these positions, or for all.
   * @param {Tape} tape @param {number} of @param {number} at
   * @param {number} guard @param {number} places @param {number[]} only
   */
  constructor(tape, of, at, guard, places, only) {
    this.tape = tape;
    this.of = of;
    this.guard = guard;
    this.only = only;
    this.limit = places + guard + EXACT_DIGITS_MORE;
    this.index = indexOf(at, tape.values[of].shape);
  }

  /** @returns {Expression[]} */
  sides() {
    const { index } = this;
    const { operation, inputs } = this.tape.values[this.of];
    switch (operation.kind) {
      case "contract":
        return this.contracted(operation, inputs);
      case "entry":
        if (dividesDotProducts(this.tape, this.of)) return this.scaled(inputs);
        if (operation.name === "divide" && this.tape.values[inputs[1]].address.endsWith(".scale")) {
          const over = this.number(inputs[0], index);
          return this.scales(inputs[1]).map((under) => ["quotient", over, under]);
        }
        return this.elementwise(operation, inputs);
      case "rotate":
        return this.rotated(operation.layout, inputs);
      case "max":
      case "running_max": {
        const soFar = inputs.slice(1).map((each) => this.number(each, index));
        return [["call", "max", ...soFar, ...this.candidates(inputs[0], index[0])]];
      }
      case "div_term": {
        const { width, base, factors } = operation;
        const of = base === null ? this.number(inputs[0], []) : numberOfLine(decimal(base));
        const power = ["power", of, ["quotient", wholeNumber(-2 * index[0]), wholeNumber(width)]];
        return [factors.length ? ["quotient", power, numberOfLine(decimal(factors[index[0]]))] : power];
      }
      case "power_of_two": {
        // 1 / 2^(8 / n), in which no number has a sign.
        const exponent = ["quotient", wholeNumber(-operation.over), wholeNumber(operation.under)];
        return [["quotient", wholeNumber(1), ["power", wholeNumber(2), exponent]]];
      }
      case "mix_experts":
        return this.mixed(operation.rows, inputs);
      case "cumulate": {
        const [row, column] = index;
        const before = column ? this.number(this.of, [row, column - 1]) : wholeNumber(0);
        return [["sum", before, this.number(inputs[0], index)]];
      }
      default:
        throw new Error(`${operation.kind} has no line`);
    }
  }

  /** An entry as it is printed, with at most the guard digits more. @param {TapeEntry} entry */
  entry({ of, at }, guard = this.guard) {
    const { pencil, values } = this.tape;
    return numberOfLine(pencil.number(values[of], at, guard), { of, at });
  }

  /** The same by its row and column. @param {number} of @param {number[]} index */
  number(of, index, guard = this.guard) {
    return this.entry({ of, at: flatIn(this.tape.values[of].shape, index) }, guard);
  }

  /** The number that takes a part's place on the way to a value. @param {Decimal} exact */
  part(exact, of = this.of) {
    const { pencil, data } = this.tape;
    const places = pencil.partPlaces(this.tape.values[of], exact);
    const guards = this.guard && data.carry !== "line";
    return numberOfLine(pencil.printed(exact, guards ? guarded(exact, places, this.guard) : places));
  }

  /** The formula with the operands of this entry put in. @param {any} operation @param {number[]} inputs */
  elementwise(operation, inputs) {
    const { index } = this;
    const { values } = this.tape;
    const at = flatIn(values[this.of].shape, index);
    const width = values[this.of].shape.at(-1) ?? 1;
    /** @param {Expression} operand */
    const operand = ([, position, along]) => {
      const of = inputs[position];
      const guards = !this.only.length || this.only.includes(position);
      const place = operation.columns // of the correct words
        ? flatIn(values[of].shape, [index[0], operation.columns[index[0]]])
        : placeAlong(along, at, width);
      return this.entry({ of, at: place }, guards ? this.guard : 0);
    };
    /** @param {Expression} inner */
    const part = (inner) => this.part(valueOfExpression(inner).number);
    /** 1 + e^-x may be as small as 1, and larger than anybody reads. @param {Expression} inner */
    const subtotal = (inner) => {
      const isLarge = adjusted(valueOfExpression(inner).number) >= SCIENTIFIC_FROM;
      return isLarge ? part(inner) : totalWithin(inner, Math.max(this.limit, 0));
    };
    return sidesOfFormula(operation.formula, operand, part, subtotal);
  }

  /** A sum of products, or of the entries of one operand, which may be divided. @param {any} operation @param {number[]} inputs */
  contracted(operation, inputs) {
    const { of, divisor, negative } = operation;
    const sides = inputs.length > 1 ? this.products(this.of) : [this.sumOf(inputs[0], of || this.along(operation, inputs[0], 0))];
    if (divisor !== null) {
      sides.push(totalWithin(sides[0], this.limit));
      return sides.map((side) => ["quotient", side, wholeNumber(divisor)]);
    }
    return negative ? sides.map(negated) : sides;
  }

  /** The entries of a factor along which the terms of a sum are. @param {any} operation @param {number} input @param {number} factor */
  along({ factors, kept, summed }, input, factor) {
    const { shape } = this.tape.values[input];
    /** @type {string[]} */
    const letters = factors[factor].slice(-shape.length); // a vector has no rows
    const terms = shape[letters.indexOf(summed)];
    /** @param {number} k */
    const place = (k) => letters.map((each) => (each === summed ? k : this.index[kept.indexOf(each)]));
    return Array.from({ length: terms }, (_, k) => flatIn(shape, place(k)));
  }

  /** a×b + c×d + bias, and the same with each product worked out, for a value. @param {number} of */
  products(of) {
    const { operation, inputs } = this.tape.values[of];
    const [x, w, ...biases] = inputs;
    const [first, second] = [x, w].map((input, factor) => this.along(operation, input, factor));
    const factors = first.map((at, k) => [{ of: x, at }, { of: w, at: second[k] }]);
    const last = biases.map((each) => this.number(each, this.index.slice(1)));
    return this.sumOfProducts(factors, last, of);
  }

  /**
   * The sum of the products of these pairs and the last terms, and the same with each worked out.
   * @param {TapeEntry[][]} factors @param {Expression[]} [last]
   */
  sumOfProducts(factors, last = [], of = this.of) {
    const shown = termsShown(factors);
    const products = shown.map((pair) => ["product", ...pair.map((each) => this.entry(each))]);
    const parts = products.map((each) => this.part(valueOfExpression(each).number, of));
    const left = factors.slice(shown.length);
    const rest = left.length ? [this.restOfProducts(left, of)] : [];
    return [products, parts].map((terms) => sumOfTerms([...terms, ...rest, ...last]));
  }

  /** The total of products that are not written out. @param {TapeEntry[][]} factors @param {number} of */
  restOfProducts(factors, of) {
    const { values, pencil, data } = this.tape;
    const context = contextOf(REST_DIGITS, { rounding: "half_even" });
    const products = factors.map((pair) => {
      const [a, b] = pair.map((each) => values[each.of].numbers[each.at]);
      return multiply(a, b, context);
    });
    const total =
      data.carry === "line"
        ? numberOfLine(totalOf(products.map((each) => pencil.printed(each, pencil.partPlaces(values[of], each)))))
        : this.part(totalOf(products), of);
    return ["rest", factors.length, total, () => factors.flat()];
  }

  /** The sum of some entries. @param {number} of @param {number[]} at */
  sumOf(of, at) {
    const entries = at.map((each) => ({ of, at: each }));
    const shown = termsShown(entries);
    const terms = shown.map((each) => this.entry(each));
    const left = entries.slice(shown.length);
    if (left.length) terms.push(this.restOfEntries(left));
    return sumOfTerms(terms);
  }

  /** The total of entries, as printed if calculations use printed numbers. @param {TapeEntry[]} entries */
  restOfEntries(entries) {
    const { values, pencil } = this.tape;
    const total = pencil.rounds
      ? numberOfLine(totalOf(entries.map((each) => this.entry(each)[1])))
      : this.part(totalOf(entries.map(({ of, at }) => values[of].numbers[at])));
    return ["rest", entries.length, total, () => entries];
  }

  /** Σ w_e y_e of the experts of a token. @param {number[][]} rows @param {number[]} inputs */
  mixed(rows, [weights, ...outputs]) {
    const [row, column] = this.index;
    const { values } = this.tape;
    const factors = rows.flatMap((own, expert) => {
      const [of, at] = [outputs[expert], own.indexOf(row)];
      if (at < 0) return [];
      const weight = { of: weights, at: flatIn(values[weights].shape, [row, expert]) };
      return [[weight, { of, at: flatIn(values[of].shape, [at, column]) }]];
    });
    return this.sumOfProducts(factors);
  }

  /** (a×b + c×d) / √d_k: the dot product is written out in the same line. @param {number[]} inputs */
  scaled([dot, scale]) {
    const [products, parts] = this.products(dot);
    const [root, under] = this.scales(scale);
    const sides = [["quotient", products, root], ["quotient", parts, under]];
    sides.push(["quotient", totalWithin(parts, this.limit), under]);
    // A printed sum is the one that is divided.
    if (this.tape.values[dot].asTheyAre) sides.push(["quotient", this.number(dot, this.index, 0), under]);
    return sides;
  }

  /** √d_k as it is written, and as it is used. @param {number} scale */
  scales(scale) {
    const { operation, inputs, asTheyAre } = this.tape.values[scale];
    const printed = this.number(scale, [], 0);
    // What was set or pinned in its place is no root.
    const root = operation.name === "sqrt" ? ["root", this.number(inputs[0], [], 0)] : printed;
    if (asTheyAre) return [root, printed];
    const { number, exact } = valueOfExpression(root);
    return [root, exact ? numberOfLine(trimmed(number)) : root];
  }

  /** a cos - b sin, a sin + b cos. @param {string} layout @param {number[]} inputs */
  rotated(layout, [x, cos, sin]) {
    const [row, column] = this.index;
    const pairs = this.tape.values[cos].shape[1];
    if (column >= 2 * pairs) return [this.number(x, this.index)];
    const [pair, ...columns] = pairOf(layout, column, pairs);
    const isFirst = column === columns[0];
    const waves = isFirst ? [cos, sin] : [sin, cos];
    const products = columns.map((at, i) => ["product", this.number(x, [row, at]), this.number(waves[i], [row, pair])]);
    const parts = products.map((each) => this.part(valueOfExpression(each).number));
    return [products, parts].map((terms) => [isFirst ? "difference" : "sum", ...terms]);
  }

  /** The numbers of a row, of which the largest is taken; of many the largest of the rest. @param {number} of @param {number} row */
  candidates(of, row) {
    const { numbers: all, shape } = this.tape.values[of];
    const numbers = rowsOf(all, shape[0])[row];
    const entries = numbers.map((_, j) => ({ of, at: row * numbers.length + j }));
    const shown = termsShown(entries);
    const written = shown.map((each) => this.entry(each));
    const left = entries.slice(shown.length);
    if (!left.length) return written;
    const largest = this.entry(left[largestAt(numbers.slice(shown.length))]);
    return [...written, ["rest", left.length, numberOfLine(largest[1]), () => left]];
  }
}

/** Whether a value is dot products that are divided by one number. @param {Tape} tape @param {number} of */
const dividesDotProducts = ({ values }, of) => {
  const { operation, inputs } = values[of];
  return operation.name === "divide" && values[inputs[0]].operation.name === "dot";
};

/** @template T @param {T[]} terms */
const termsShown = (terms) => (terms.length <= MOST_TERMS ? terms : terms.slice(0, TERMS_SHOWN));

/** @param {Expression[]} terms @returns {Expression} */
const sumOfTerms = (terms) => (terms.length === 1 ? terms[0] : ["sum", ...terms]);

/** The index of the first of the largest numbers. @param {Decimal[]} numbers */
const largestAt = (numbers) => numbers.reduce((most, each, i) => (compare(each, numbers[most]) > 0 ? i : most), 0);

/** The total of terms, exact unless it has too many digits. @param {Expression} terms @param {number} limit */
const totalWithin = (terms, limit) => {
  const { number } = valueOfExpression(terms);
  return numberOfLine(placesIn(number) <= limit ? number : trimmed(roundHalfAway(number, limit)));
};

/** The decimals of a number; negative for 1.07×10¹³. @param {Decimal} number */
const placesIn = (number) => (!isInfinite(number) ? 0 - number.e : 0);

/** -(a + b); of a single number that number with its other sign. @param {Expression} of @returns {Expression} */
const negated = (of) => (of[0] === "number" ? numberOfLine(negate(of[1]), of[2]) : ["negative", of]);

/**
 * The line of an entry, with the fewest guard digits with which it is true.
 * @param {Tape} tape @param {number} of @param {number} at @returns {Chain}
 */
const chainOf = (tape, of, at) => {
  const { pencil, values } = tape;
  const result = numberOfLine(pencil.number(values[of], at), { of, at });
  const decimals = placesOf(values[of].digits || pencil.usual, ZERO);
  const places = placesIn(result[1]);
  for (let guard = 0; guard < MOST_GUARD_DIGITS; guard += 1) {
    for (const only of guard && isQuotient(tape, of) ? OPERANDS_APART : [[]]) {
      const sides = withResult(new LineSides(tape, of, at, guard, places, only).sides(), result);
      if (isTrueLine(sides, decimals)) {
        return { sides, relations: sides.slice(1).map((side, i) => relationOf(sides[i], side)) };
      }
    }
  }
  throw new Error(`${values[of].address}[${indexOf(at, values[of].shape)}] contradicts its line`);
};

/** The first side of an entry's line, also where it is the only one. @param {Tape} tape @param {number} of @param {number} at */
const firstSideOf = (tape, of, at) => new LineSides(tape, of, at, 0, 0, []).sides()[0];

/** Whether extra digits of one operand may be enough. @param {Tape} tape @param {number} of */
const isQuotient = (tape, of) => {
  const { name } = tape.values[of].operation;
  return name === "share" || (name === "divide" && !dividesDotProducts(tape, of));
};

/**
 * The sides with the result, and before it what the last of them comes to, if that is short. Each
 * side stands once. Where a number comes twice, it is written as the result is printed; but one that
 * is put in keeps its digits.
 * @param {Expression[]} written @param {Expression} result
 */
const withResult = (written, result) => {
  const { number, exact } = valueOfExpression(written[written.length - 1]);
  /** @type {Expression[]} */
  const before = [];
  if (exact && !isInfinite(number)) {
    const short = trimmed(number);
    const more = placesIn(short) - placesIn(result[1]);
    if (more > 0 && more <= EXACT_DIGITS_MORE) before.push(numberOfLine(short));
  }
  /** @type {Expression[]} */
  const kept = [];
  for (const side of [...written, ...before, result]) {
    const last = kept[kept.length - 1];
    const isNumber = last?.[0] === "number" && side[0] === "number";
    if (isNumber && compare(side[1], last[1]) === 0) {
      const [, shown, entry] = last;
      if (!entry || (side[2] && placesIn(side[1]) === placesIn(shown))) kept[kept.length - 1] = side;
      else if (side[2]) kept.push(side);
    } else if (!last || !isEqual(last, side)) kept.push(side);
  }
  return kept;
};

/**
 * Whether each number that replaces a side or a dividend is that number, rounded. A 0 stands for
 * numbers that are 0 with the usual decimals.
 * @param {Expression[]} sides @param {number} decimals
 */
const isTrueLine = (sides, decimals) =>
  sides.slice(1).every((side, i) => {
    const last = sides[i];
    const isDividend = last[0] === "quotient" && side[0] === "quotient" && side[1][0] === "number";
    const [left, right] = isDividend ? [last[1], side[1]] : [last, side];
    if (right[0] !== "number") return true;
    return holds(left, right, isZero(right[1]) ? decimals : placesIn(right[1]));
  });

/**
 * The worked line of an entry as text; null if it has none, as a number that is given or copied.
 * @param {Tape} tape @param {number} of @param {number} at
 */
const line = (tape, of, at) => {
  const chain = isWorked(tape, of, at) ? chainOf(tape, of, at) : null;
  if (!chain || !chain.relations.length) return null; // the sum of a single number is that number
  const notation = new Notation();
  const sides = chain.sides.map((side) => notation.write(side));
  const front = notation.write(tape.values[of].symbol);
  return { front, sides: sides.slice(0, -1), relations: chain.relations, result: sides[sides.length - 1] };
};
