// @ts-check

// Each operation written with the numbers of one entry: the sides of its line, all but the result.

/** An exact value this little longer is shown before it is rounded: 33.207 / 6 = 5.5345 ≈ 5.535. */
const EXACT_DIGITS_MORE = 2;
/** The terms of a long sum that are written out; a sum of at most so many is written out whole. */
const [TERMS_SHOWN, MOST_TERMS] = [12, 16];

/** A group of at most so many weights is written out; of a larger one, the largest ones. */
const [MOST_OF_GROUP, SHOWN_OF_GROUP] = [8, 4];

/** The sides of one entry's line, with some guard digits. */
class LineSides {
  /**
   * `places` are those of the result, which subtotals exceed by a few. The guard digits are for the
   * operands at `only` these positions, or for all.
   * @param {Tape} tape @param {TapeEntry} entry
   * @param {number} guard @param {number} places @param {number[]} [only]
   */
  constructor(tape, { of, at }, guard, places, only = []) {
    const { operation, inputs, shape } = tape.values[of];
    this.tape = tape;
    this.values = tape.values;
    this.pencil = tape.pencil;
    this.of = of;
    this.at = at;
    this.index = indexOf(at, shape);
    this.operation = operation;
    this.inputs = inputs;
    this.guard = guard;
    this.limit = places + guard + EXACT_DIGITS_MORE;
    this.only = only;
  }

  /** @returns {Expression[]} */
  all() {
    const { operation, inputs, index } = this;
    switch (operation.kind) {
      case "contract":
        return this.contracted();
      case "entry":
        if (dividesDotProducts(this.values, this.of)) return this.scaled();
        if (operation.name === "divide" && this.values[inputs[1]].address.endsWith(".scale")) {
          const over = this.number(inputs[0], index);
          return this.scales(inputs[1]).map((under) => ["quotient", over, under]);
        }
        return this.elementwise();
      case "rotate":
        return this.rotated();
      case "max":
      case "running_max": {
        const soFar = inputs.slice(1).map((each) => this.number(each, index));
        return [["call", "max", ...soFar, ...this.candidates(inputs[0])]];
      }
      case "group_extreme":
        return [this.extreme(inputs[0])];
      case "div_term": {
        const { width, base, factors } = operation;
        const of = base === null ? this.number(inputs[0], []) : lineNumber(decimal(base));
        const wave = ["power", of, ["quotient", lineNumber(whole(-2 * index[0])), lineNumber(whole(width))]];
        return [factors.length ? ["quotient", wave, lineNumber(decimal(factors[index[0]]))] : wave];
      }
      case "power_of_two": {
        // 1 / 2^(8 / n), in which no number has a sign.
        const exponent = ["quotient", lineNumber(whole(-operation.over)), lineNumber(whole(operation.under))];
        return [["quotient", lineNumber(ONE), ["power", lineNumber(TWO), exponent]]];
      }
      case "mix_experts":
        return this.mixed();
      case "cumulate": {
        const [row, column] = index;
        const before = column ? this.number(this.of, [row, column - 1]) : lineNumber(ZERO);
        return [["sum", before, this.number(inputs[0], index)]];
      }
      default:
        throw new Error(`${operation.kind} has no line`);
    }
  }

  /** An entry as it is printed, with at most the guard digits more. @param {TapeEntry} entry */
  entry({ of, at }, guard = this.guard) {
    return lineNumber(this.pencil.number(this.values[of], at, guard), { of, at });
  }

  /** The same by its row and column. @param {number} of @param {number[]} index */
  number(of, index, guard = this.guard) {
    return this.entry({ of, at: flatIn(this.values[of].shape, index) }, guard);
  }

  /** The number that takes a part's place on the way to a value. @param {Decimal} exact */
  part(exact, of = this.of) {
    const places = this.pencil.partPlaces(this.values[of], exact);
    const guards = this.guard && this.pencil.tape.carry !== "line";
    return lineNumber(this.pencil.printed(exact, guards ? guarded(exact, places, this.guard) : places));
  }

  /** The formula with the operands of this entry put in. */
  elementwise() {
    const { columns, formula } = this.operation;
    const width = this.values[this.of].shape.at(-1) ?? 1;
    /** @param {Expression} operand */
    const operand = ([, position, along]) => {
      const of = this.inputs[position];
      if (position === 1 && ["quantize", "zero_point"].includes(this.operation.name ?? "") && this.isTie()) return this.scale();
      const guard = this.only.length && !this.only.includes(position) ? 0 : this.guard;
      if (columns) return this.number(of, [this.at, columns[this.at]], guard); // of the correct word
      return this.entry({ of, at: placeAlong(along, this.at, width) }, guard);
    };
    /** @type {Expression[]} */
    const parts = [];
    /** @param {Expression} inner */
    const part = (inner) => {
      parts.push(this.part(valueOfExpression(inner).number));
      return parts[parts.length - 1];
    };
    /** @param {Expression} inner */
    const subtotal = (inner) => {
      // 1 + e^-x may be as small as 1, and larger than anybody reads.
      const isLarge = adjusted(valueOfExpression(inner).number) >= SCIENTIFIC_FROM;
      return isLarge ? part(inner) : totalWithin(inner, Math.max(this.limit, ...this.used(inner, parts), 0));
    };
    return sidesOfFormula(formula, operand, part, subtotal);
  }

  /**
   * The decimals of the terms of a sum that is used as printed; none if it has a part.
   * @param {Expression} of
   * @param {Expression[]} parts
   * @returns {number[]}
   */
  used([name, ...terms], parts) {
    if (!this.pencil.rounds || !["sum", "difference"].includes(name)) return [];
    if (terms.some((term) => parts.includes(term))) return [];
    const places = terms.filter(([kind]) => kind === "number").map(([, number]) => placesIn(number));
    return places.filter((each) => each <= SCIENTIFIC_FROM);
  }

  /** Whether a ratio is halfway between two integers, but not with its scale as printed. */
  isTie() {
    const { rounds, tape } = this.pencil;
    if (rounds) return false;
    const [w, s] = this.inputs.map((of) => this.values[of].numbers[this.at]);
    const ratio = plus(divide(w, s, evaluating()), tape.floats ? SETTLED_FLOAT : SETTLED);
    return compare(absolute(subtract(ratio, floorOf(ratio), SUMS)), decimal("0.5")) === 0;
  }

  /** The scale of an entry as it is computed: 0.5 / (1 / 127) is 63.5 exactly. @returns {Expression} */
  scale() {
    let [, of] = this.inputs;
    let at = this.at;
    if (this.values[of].operation.kind === "gather") {
      const { moves } = this.values[of].operation;
      at = moves.find((/** @type {any} */ move) => move[2].includes(at))[1][0];
      [of] = this.values[of].inputs;
    }
    if (!["divide_by", "range_scale"].includes(this.values[of].operation.name ?? "")) return this.entry({ of, at });
    return new LineSides(this.tape, { of, at }, this.guard, 0).all()[0];
  }

  /** A sum of products, or of the entries of one operand, which may be divided. */
  contracted() {
    const { operation, inputs } = this;
    if (inputs.length > 1) return this.products(this.of);
    const [of] = inputs;
    const at = operation.of || this.along(operation, inputs, 0);
    const total = this.sumOfEntries(at.map((/** @type {number} */ each) => ({ of, at: each })));
    if (operation.divisor === null) return [total];
    const divisor = lineNumber(whole(operation.divisor));
    return [total, totalWithin(total, this.limit)].map((side) => ["quotient", side, divisor]);
  }

  /** The entries of a factor along which the terms of a sum are. @param {Operation} operation @param {number[]} inputs @param {number} factor */
  along(operation, inputs, factor) {
    const { factors, kept } = operation;
    const { shape } = this.values[inputs[factor]];
    /** @type {string[]} */
    const letters = factors[factor];
    const length = termsOf(operation, inputs.map((each) => this.values[each]));
    const places = Array.from({ length }, (_, k) => k);
    const at = (/** @type {string} */ axis, /** @type {number} */ k) =>
      axis.split("+").reduce((sum, each) => sum + (this.index[kept.indexOf(each)] ?? k), 0);
    return places.map((k) => flatIn(shape, letters.map((each) => at(each, k))));
  }

  /** a×b + c×d + bias, and the same with each product worked out, for a value. @param {number} of */
  products(of) {
    const { operation, inputs } = this.values[of];
    const [x, w, ...biases] = inputs;
    const [first, second] = [0, 1].map((factor) => this.along(operation, inputs, factor));
    const pairs = first.map((at, k) => [{ of: x, at }, { of: w, at: second[k] }]);
    return this.sumsOfProducts(pairs, of, biases.map((each) => this.number(each, this.index.slice(1))));
  }

  /**
   * The sum of the products of these pairs and the last terms, and the same with each worked out.
   * @param {TapeEntry[][]} pairs @param {Expression[]} [last] @returns {Expression[]}
   */
  sumsOfProducts(pairs, of = this.of, last = []) {
    /** @param {TapeEntry[]} pair */
    const product = (pair) => ["product", ...pair.map((each) => this.entry(each))];
    /** @param {TapeEntry[]} pair */
    const part = (pair) => this.part(valueOfExpression(product(pair)).number, of);
    /** @param {TapeEntry[][]} left */
    const total = (left) => {
      const products = left.map(([a, b]) => multiply(this.exact(a), this.exact(b), evaluating()));
      if (this.pencil.tape.carry !== "line") return this.part(totalOf(products), of);
      return lineNumber(totalOf(products.map((each) => this.part(each, of)[1])));
    };
    return [product, part].map((write) => sumOfTerms([...withRest(pairs, write, total), ...last]));
  }

  /** The sum of some entries. @param {TapeEntry[]} entries */
  sumOfEntries(entries) {
    /** @param {TapeEntry[]} left */
    const total = (left) =>
      this.pencil.rounds
        ? lineNumber(totalOf(left.map((each) => this.entry(each)[1])))
        : this.part(totalOf(left.map((each) => this.exact(each))));
    return sumOfTerms(withRest(entries, (each) => this.entry(each), total));
  }

  /** @param {TapeEntry} entry @returns {Decimal} */
  exact({ of, at }) {
    return this.values[of].numbers[at];
  }

  /** Σ w_e y_e of the experts of a token. */
  mixed() {
    const [weights, ...outputs] = this.inputs;
    const [row, column] = this.index;
    /** @type {number[][]} */
    const rows = this.operation.rows;
    const pairs = rows.flatMap((own, expert) => {
      const [of, place] = [outputs[expert], own.indexOf(row)];
      if (place < 0) return [];
      const weight = { of: weights, at: flatIn(this.values[weights].shape, [row, expert]) };
      return [[weight, { of, at: flatIn(this.values[of].shape, [place, column]) }]];
    });
    return this.sumsOfProducts(pairs);
  }

  /** (a×b + c×d) / √d_k: the dot product is written out in the same line. @returns {Expression[]} */
  scaled() {
    const [dot, scale] = this.inputs;
    const [products, parts] = this.products(dot);
    const [root, under] = this.scales(scale);
    const totals = [totalWithin(parts, this.limit)];
    if (this.values[dot].asTheyAre) totals.push(this.number(dot, this.index, 0)); // and so is the printed sum
    return [["quotient", products, root], ...[parts, ...totals].map((each) => ["quotient", each, under])];
  }

  /** √d_k as it is written, and as it is used. @param {number} scale */
  scales(scale) {
    const { operation, inputs, asTheyAre } = this.values[scale];
    const printed = this.number(scale, [], 0);
    // What was set or pinned in its place is no root.
    const root = operation.name === "sqrt" ? ["root", this.number(inputs[0], [], 0)] : printed;
    if (asTheyAre) return [root, printed];
    const { number, exact } = valueOfExpression(root);
    return [root, exact ? lineNumber(trimmed(number)) : root];
  }

  /** a cos - b sin, a sin + b cos. @returns {Expression[]} */
  rotated() {
    const [x, cos, sin] = this.inputs;
    const [row, column] = this.index;
    const pairs = this.values[cos].shape[1];
    if (column >= 2 * pairs) return [this.entry({ of: x, at: this.at })];
    const [pair, ...columns] = pairOf(this.operation.layout, column, pairs);
    const [sign, ...waves] = column === columns[0] ? ["difference", cos, sin] : ["sum", sin, cos];
    const products = columns.map((at, i) => ["product", this.number(x, [row, at]), this.number(waves[i], [row, pair])]);
    const parts = products.map((each) => this.part(valueOfExpression(each).number));
    return [products, parts].map((terms) => [sign, ...terms]);
  }

  /** The numbers of a group, of which the largest |w| is taken; of many the largest ones. @param {number} of @returns {Expression} */
  extreme(of) {
    const { operation, index } = this;
    const isMagnitude = operation.of === "magnitude";
    const entries = groupEntries(operation, this.values[of].shape, index).map((at) => ({ of, at }));
    const sizes = entries.map((each) => {
      const number = this.exact(each);
      return isMagnitude ? absolute(number) : operation.of === "smallest" ? negate(number) : number;
    });
    const order = [...entries.keys()].sort((a, b) => compare(sizes[b], sizes[a]) || a - b);
    const most = entries.length <= MOST_OF_GROUP ? entries.length : SHOWN_OF_GROUP;
    const inOrder = (/** @type {number[]} */ places) => [...places].sort((a, b) => a - b).map((i) => entries[i]);
    const written = inOrder(order.slice(0, most)).map((each) => (isMagnitude ? ["call", "abs", this.entry(each)] : this.entry(each)));
    if (most < entries.length) {
      const [, next] = this.entry(entries[order[most]]);
      written.push(["rest", entries.length - most, lineNumber(isMagnitude ? absolute(next) : next), inOrder(order.slice(most))]);
    }
    const name = operation.of === "smallest" ? "min" : "max";
    return ["call", name, ...(isMagnitude ? [] : [lineNumber(ZERO)]), ...written];
  }

  /** The numbers of a row, of which the largest is taken; of many the largest of the rest. @param {number} of */
  candidates(of) {
    const [, columns] = this.values[of].shape;
    const entries = Array.from({ length: columns }, (_, j) => ({ of, at: this.index[0] * columns + j }));
    /** @param {TapeEntry[]} left */
    const largest = (left) => lineNumber(this.entry(left[largestAt(left.map((each) => this.exact(each)))])[1]);
    return withRest(entries, (each) => this.entry(each), largest);
  }
}

/** @param {number[]} shape @param {number[]} index */
const flatIn = (shape, index) => index.reduce((at, each, axis) => at * shape[axis] + each, 0);

/** Whether a value is dot products that are divided by one number. @param {TapeValue[]} values @param {number} of */
const dividesDotProducts = (values, of) => {
  const { operation, inputs } = values[of];
  return operation.name === "divide" && values[inputs[0]].operation.name === "dot";
};

/**
 * The terms as they are written; of many the first ones, and the rest with what it comes to.
 * @template T @param {T[]} terms @param {(term: T) => Expression} write @param {(left: T[]) => Expression} total
 */
const withRest = (terms, write, total) => {
  if (terms.length <= MOST_TERMS) return terms.map(write);
  const left = terms.slice(TERMS_SHOWN);
  return [...terms.slice(0, TERMS_SHOWN).map(write), ["rest", left.length, total(left), left.flat()]];
};

/** @param {Expression[]} terms @returns {Expression} */
const sumOfTerms = (terms) => (terms.length === 1 ? terms[0] : ["sum", ...terms]);

/** The index of the first of the largest numbers. @param {Decimal[]} numbers */
const largestAt = (numbers) => numbers.reduce((most, each, i) => (compare(each, numbers[most]) > 0 ? i : most), 0);

/** The total of terms, exact unless it has too many digits. @param {Expression} terms @param {number} limit */
const totalWithin = (terms, limit) => {
  const { number } = valueOfExpression(terms);
  return lineNumber(placesIn(number) <= limit ? number : trimmed(roundHalfAway(number, limit)));
};

/** The decimals of a number; negative for 1.07×10¹³. @param {Decimal} number */
const placesIn = (number) => (isInfinite(number) ? 0 : 0 - number.e);
