// @ts-check

// The tape: every value of a pass with the operation that computes it, evaluated as the program does.

/**
 * A formula: its kind, then what it is made of.
 * @typedef {any[]} FormulaTree
 * @typedef {{kind: string, name?: string, [field: string]: any}} Operation
 * @typedef {object} TapeValue
 * @property {string} address
 * @property {FormulaTree} symbol
 * @property {number[]} shape
 * @property {string[][]} labels
 * @property {string} rule which digits its numbers keep
 * @property {Digits | null} digits those that the author sets
 * @property {Operation} operation
 * @property {number[]} inputs
 * @property {number} [logits] the value by which columns are chosen
 * @property {any[]} numbers
 * @property {any[]} computed the numbers before rounding
 * @property {boolean} asTheyAre whether the numbers are printed with their own digits
 * @property {boolean} [words]
 * @property {boolean} [rounded] whether given numbers are rounded for print
 * @property {number[]} [places] the places in the scenario where its numbers are typed, or -1
 * @property {(boolean | (number | string)[])[]} [tokens] which tokens each axis names: all, none, or some and further names
 * @property {boolean} [typed]
 * @typedef {{decimals: number, working: number, carry: "line" | "step" | "never", trims: boolean, floats: boolean, shifts: boolean, values: TapeValue[], words: Record<string, Word>}} TapeData
 */

const LARGEST_EXPONENT = 2_000_000;
const LARGEST_FLOAT_EXPONENT = 700;
/** A masked score. */
const HIDDEN = decimal("-Infinity");

/** Why the tape has no numbers for a state for which the program writes another tape. */
class OtherSteps extends NoResult {}

class Tape {
  /** @param {TapeData} data */
  constructor(data) {
    this.data = data;
    this.values = data.values;
    this.pencil = new Pencil(data);
    this.context = contextOf(60);
    this.noise = data.floats ? ROUNDED_NOISE : NOISE;
    this.largestExponent = decimal(String(data.floats ? LARGEST_FLOAT_EXPONENT : LARGEST_EXPONENT));
    for (const value of this.values) {
      value.symbol = withDecimals(value.symbol);
      if (!value.numbers) continue;
      value.numbers = value.words ? value.numbers : value.numbers.map(decimal);
      value.computed = value.numbers;
      value.asTheyAre = !value.rounded;
    }
    for (const word of Object.values(data.words)) word.numbers = word.numbers.map(decimal);
    this.evaluate();
  }

  /**
   * Compute what follows from changed values, or all; return the indices of those that changed.
   * @param {Set<number>} [changed]
   */
  evaluate(changed) {
    const news = new Set(changed);
    this.values.forEach((value, i) => {
      if (value.operation.kind === "given") return;
      if (changed && !changed.has(i) && !value.inputs.some((input) => news.has(input))) return;
      const before = value.numbers;
      this.compute(value);
      if (!before || value.numbers.some((number, at) => !same(number, before[at]))) news.add(i);
    });
    return news;
  }

  /** @param {TapeValue} value */
  compute(value) {
    const { operation } = value;
    const inputs = value.inputs.map((input) => this.values[input]);
    const chooses = operation.kind === "argmax" || operation.kind === "pick";
    const x = inputs.map((input) => (chooses ? input.computed : input.numbers));
    const masks = operation.name === "mask" && x[1].every((each) => isZero(each) || isHidden(each));
    const moves = masks || ["gather", "max", "running_max"].includes(operation.kind);
    let numbers = result(this, value, inputs, x);
    if (!moves && !chooses) numbers = numbers.map((each) => this.stored(each));
    value.computed = value.numbers = numbers;
    // A mask of 0 and -∞ has no digits of its own; other numbers are added to the scores.
    value.asTheyAre = moves && (masks ? inputs.slice(0, 1) : inputs).every((each) => each.asTheyAre);
    if (value.words) return void (value.asTheyAre = true);
    const kept = moves ? this.pencil.chosenCopy(value, numbers) : this.pencil.kept(value, numbers, inputs[0]);
    if (kept) [value.numbers, value.asTheyAre] = [kept, true];
  }

  /** A result with the digits that are kept. @param {Decimal} number */
  stored(number) {
    return this.data.floats ? toNearestFloat(number) : toNearestDecimal(number);
  }

  /** A sum; 0 if it is only the rounding error of its terms. @param {Decimal[]} terms */
  sum(terms) {
    return sumOf(terms, this.noise);
  }

  /** @param {string} address */
  at(address) {
    const found = this.values.find((value) => value.address === address);
    if (!found) throw new Error(`no value ${address}`);
    return found;
  }

  /** Set the number at a place of the scenario, wherever it is used; return the changed values. @param {number} place @param {Decimal} number */
  set(place, number) {
    const changed = new Set(/** @type {number[]} */ ([]));
    this.values.forEach((value, i) => {
      if (!value.places?.includes(place)) return;
      value.numbers = value.computed = value.numbers.map((each, at) => (value.places?.[at] === place ? number : each));
      changed.add(i);
    });
    for (const word of Object.values(this.data.words)) word.numbers = word.numbers.map((each, at) => (word.places[at] === place ? number : each));
    return changed;
  }

  /** The number at a place of the scenario. @param {number} place @returns {Decimal} */
  numberAt(place) {
    const uses = [...this.values, ...Object.values(this.data.words)];
    const found = uses.find(({ places }) => places?.includes(place));
    return found?.numbers[found.places?.indexOf(place) ?? 0];
  }
}

/** A formula whose numbers are decimals. @param {FormulaTree} e @returns {FormulaTree} */
const withDecimals = (e) =>
  e[0] === "number" ? ["number", decimal(e[1])] : e.map((part) => (Array.isArray(part) ? withDecimals(part) : part));

// --- typed numbers, and settings -----------------------------------------------------------------

const TYPED_NUMBER = /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,3})?$/i;
const LARGEST_TYPED = decimal("1e12");
const SMALLEST_TYPED = decimal("1e-40");
const MOST_TYPED_DIGITS = 20;

/** A number as a scenario can hold it; 1e3 is 1000. @param {string} text */
const typedNumber = (text) => {
  if (!TYPED_NUMBER.test(text)) throw new NoResult(`expected a number, got ${text}`);
  const number = decimal(text);
  const digits = String(number.c).replace("-", "").length;
  if (digits > MOST_TYPED_DIGITS) throw new NoResult(`expected a number of at most ${MOST_TYPED_DIGITS} digits`);
  if (compare(absolute(number), LARGEST_TYPED) > 0) throw new NoResult("expected a number of at most 10^12");
  const isSmall = compare(absolute(number), SMALLEST_TYPED) < 0;
  if (isSmall && !isZero(number)) throw new NoResult("expected a number of at least 10^-40, or 0");
  return decimal(textOf(number));
};

/**
 * @typedef {{name: string, label: string, value: string, choices: string[], number: boolean, kind: string, values: number[], change: TextChange, also?: TextChange[]}} Setting
 * whose place in the text is that of its change
 * @typedef {[number, number, string]} TextChange
 */

/** Change a setting; return the values on the tape that change with it. @param {Tape} tape @param {Setting} setting @param {string} to @param {Record<string, FormulaTree>} activations */
const applySetting = (tape, setting, to, activations) => {
  const { kind, values: about, value, choices, number } = setting;
  const isChoice = kind === "tokens" ? areTokens(setting, to) : [value, ...choices].includes(to);
  if (!isChoice && !(number && isPositive(to))) {
    const many = kind === "tokens" ? `${value.split(" ").length} tokens, each ` : "";
    const expected = [...choices, ...(number ? ["a number more than 0"] : [])].join(" or ");
    throw new NoResult(`expected ${many}${expected}, got ${to}`);
  }
  if (kind === "tokens") return setTokens(tape, setting, to);
  for (const each of about.map((i) => tape.values[i])) {
    if (kind === "mask") maskWith(each, to);
    else if (kind === "divisor") each.operation = { ...each.operation, formula: ["quotient", each.operation.formula[1], ["number", textOf(typedNumber(to))]] };
    else if (kind === "activation") each.operation = { ...each.operation, formula: activations[to] };
    else setScale(each, to);
  }
  return new Set(about);
};

/** @param {string} text */
const isPositive = (text) => TYPED_NUMBER.test(text) && compare(typedNumber(text), ZERO) > 0;

/** Hide what a mask hides, and padding. @param {TapeValue} value @param {string} to */
const maskWith = (value, to) => {
  const [rows, columns] = value.shape;
  const window = Number(/window: (\d+)/.exec(to)?.[1] ?? columns);
  const first = columns - rows; // the queries are the last tokens
  const numbers = value.numbers;
  const isPadding = (/** @type {number} */ j) => j >= first && isHidden(numbers[(j - first) * columns + j]);
  const padding = [...Array(columns).keys()].map(isPadding);
  value.numbers = value.computed = numbers.map((_, at) => {
    const [i, j] = [first + Math.floor(at / columns), at % columns];
    const hides = padding[j] || (to !== "none" && (j > i || i - j >= window));
    return hides ? HIDDEN : ZERO;
  });
};

/** The root of d_k, or a number in its place. @param {TapeValue & {root?: Operation}} value @param {string} to */
const setScale = (value, to) => {
  value.root ??= value.operation;
  value.operation = to === "sqrt" ? value.root : { kind: "given" };
  if (to === "sqrt") return;
  const numbers = [typedNumber(to)];
  Object.assign(value, { numbers, computed: numbers, asTheyAre: true });
};

/** @param {any} a @param {any} b */
const same = (a, b) => (typeof a === "string" ? a === b : a.c === b.c && a.e === b.e);

/**
 * The result of an operation for its operands x.
 * @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {any[][]} x @returns {any[]}
 */
const result = (tape, value, inputs, x) => {
  const { operation, shape } = value;
  const { context } = tape;
  switch (operation.kind) {
    case "entry":
      return entries(tape, value, inputs, x);
    case "contract":
      return contracted(tape, value, inputs, x);
    case "gather":
      if (operation.columns) checkRouting(operation.columns, tape.values[value.logits ?? 0]);
      return gathered(operation, size(shape), x);
    case "max":
      return rowsOf(x[0], shape[0]).map((row) => orZero(row.reduce(larger)));
    case "running_max":
      return rowsOf(x[0], shape[0]).map((row, i) => [...row, ...x.slice(1).map((before) => before[i])].reduce(larger));
    case "rotate":
      return rotated(tape, value, inputs, x);
    case "div_term": {
      const base = operation.base === null ? x[0][0] : decimal(operation.base);
      return [...Array(shape[0]).keys()].map((k) => {
        const wave = power(base, divide(whole(-2 * k), whole(operation.width), context), context);
        return operation.factors.length ? divide(wave, decimal(operation.factors[k]), context) : wave;
      });
    }
    case "power_of_two":
      return [power(whole(2), divide(whole(operation.over), whole(operation.under), context), context)];
    case "mix_experts":
      return mixed(tape, value, x);
    case "cumulate":
      return rowsOf(x[0], shape[0]).flatMap((row) => {
        let total = ZERO;
        return row.map((each, i) => (total = i ? add(total, each, context) : each));
      });
    case "argmax": {
      const logits = rowsOf(x[1], shape[0]);
      return rowsOf(x[0], shape[0]).map((row, i) => operation.words[largest(row, logits[i])]);
    }
    case "pick": {
      const sums = rowsOf(x[0], inputs[0].shape[0]).at(-1) || [];
      const word = operation.words.find((/** @type {string} */ _, /** @type {number} */ i) => compare(x[1][0], sums[i]) < 0);
      return [word ?? operation.words.at(-1)];
    }
    default:
      throw new Error(`no operation ${operation.kind}`);
  }
};

/** @param {number[]} shape */
const size = (shape) => shape.reduce((a, b) => a * b, 1);
/** @template T @param {T[]} numbers @param {number} rows @returns {T[][]} */
const rowsOf = (numbers, rows) => {
  const width = numbers.length / rows;
  return [...Array(rows).keys()].map((i) => numbers.slice(i * width, (i + 1) * width));
};
/** @param {Decimal} a @param {Decimal} b */
const larger = (a, b) => (compare(a, b) >= 0 ? a : b);
/** @param {Decimal} number */
const isHidden = (number) => isInfinite(number) && number.c < 0n;
/** The largest of a row that is masked as a whole is 0. @param {Decimal} number */
const orZero = (number) => (isHidden(number) ? ZERO : number);

/** The index of the largest probability; among equal ones, that of the largest logit. @param {Decimal[]} p @param {Decimal[]} z */
const largest = (p, z) => {
  const before = (/** @type {number} */ a, /** @type {number} */ b) => compare(p[b], p[a]) || compare(z[b], z[a]) || a - b;
  return [...p.keys()].sort(before)[0];
};

/** Refuse a state in which tokens go to other networks, which is another tape. @param {number[][]} columns @param {TapeValue} logits */
const checkRouting = (columns, logits) => {
  rowsOf(logits.computed, columns.length).forEach((row, i) => {
    const order = [...row.keys()].sort((a, b) => compare(row[b], row[a]) || a - b);
    const chosen = order.slice(0, columns[i].length).sort((a, b) => a - b);
    if (chosen.some((column, j) => column !== columns[i][j])) throw new OtherSteps("a token goes to other experts");
  });
};

// --- sums of products, and moves -----------------------------------------------------------------

/** The strides of the axes of an operand. @param {string[]} axes @param {number[]} shape @param {string[]} wanted */
const strides = (axes, shape, wanted) =>
  wanted.map((axis) => (axes.includes(axis) ? size(shape.slice(axes.indexOf(axis) + 1)) : 0));

/** @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {Decimal[][]} x */
const contracted = (tape, value, inputs, x) => {
  const { factors, kept, summed, matrix, negative, divisor, of } = value.operation;
  const { context, pencil } = tape;
  if (of) return [tape.sum(of.map((/** @type {number} */ at) => x[0][at]))].map((total) => (divisor ? divide(total, whole(divisor), context) : total));
  const steps = factors.map((/** @type {string[]} */ axes, /** @type {number} */ k) => strides(axes, inputs[k].shape, [...kept, summed]));
  const length = inputs[0].shape[factors[0].indexOf(summed)];
  const last = steps.map((/** @type {number[]} */ each) => each[kept.length]);
  const width = value.shape.at(-1) ?? 1;
  const bias = matrix ? x[2] : undefined;
  return [...Array(size(value.shape)).keys()].map((at) => {
    const index = indexOf(at, value.shape);
    const start = steps.map((/** @type {number[]} */ each) => index.reduce((sum, i, axis) => sum + i * each[axis], 0));
    const terms = [...Array(length).keys()].map((k) => {
      const a = x[0][start[0] + k * last[0]];
      return steps.length > 1 ? pencil.part(value, multiply(a, x[1][start[1] + k * last[1]], context)) : a;
    });
    if (bias) terms.unshift(bias[at % width]);
    const total = terms.length ? tape.sum(terms) : ZERO;
    if (divisor) return divide(total, whole(divisor), context);
    return negative ? negate(total) : total;
  });
};

/** @param {number} at @param {number[]} shape */
const indexOf = (at, shape) => {
  const index = [];
  for (let axis = shape.length - 1, rest = at; axis >= 0; rest = Math.floor(rest / shape[axis]), axis--) index[axis] = rest % shape[axis];
  return index;
};

/** @param {Operation} operation @param {number} length @param {Decimal[][]} x */
const gathered = ({ moves, others }, length, x) => {
  const found = Array(length).fill(decimal(others));
  for (const [operand, of, to] of moves) {
    const taken = of ? of.map((/** @type {number} */ at) => x[operand][at]) : x[operand];
    // One number may be moved to a whole column.
    (to || [...found.keys()]).forEach((/** @type {number} */ place, /** @type {number} */ k) => (found[place] = taken[k % taken.length]));
  }
  return found;
};

/** Pairs (a, b) of columns rotated: (a cos - b sin, a sin + b cos); the others stay. @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {Decimal[][]} x */
const rotated = (tape, value, inputs, [of, cos, sin]) => {
  const { layout } = value.operation;
  const [, columns] = value.shape;
  const pairs = inputs[1].shape[1];
  const part = (/** @type {Decimal} */ a, /** @type {Decimal} */ b) => tape.pencil.part(value, multiply(a, b, tape.context));
  return of.map((number, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    if (column >= 2 * pairs) return number;
    const [pair, first, second] = pairOf(layout, column, pairs);
    const [c, s] = [cos[row * pairs + pair], sin[row * pairs + pair]];
    const [a, b] = [of[row * columns + first], of[row * columns + second]];
    return column === first ? tape.sum([part(a, c), negate(part(b, s))]) : tape.sum([part(a, s), part(b, c)]);
  });
};

/** The pair that a column is in, and its two columns. @param {string} layout @param {number} column @param {number} pairs */
const pairOf = (layout, column, pairs) => {
  if (layout !== "pairs") return [column % pairs, column % pairs, (column % pairs) + pairs];
  const pair = Math.floor(column / 2);
  return [pair, 2 * pair, 2 * pair + 1];
};

/** Each expert's rows times their weights, added up for each token. @param {Tape} tape @param {TapeValue} value @param {Decimal[][]} x */
const mixed = (tape, value, [weights, ...outputs]) => {
  const [tokens, width] = value.shape;
  /** @type {number[][]} */
  const rows = value.operation.rows;
  return [...Array(tokens * width).keys()].map((at) => {
    const [token, column] = [Math.floor(at / width), at % width];
    const terms = rows.flatMap((own, expert) => {
      const row = own.indexOf(token);
      if (row < 0) return [];
      const product = multiply(weights[token * rows.length + expert], outputs[expert][row * width + column], tape.context);
      return [tape.pencil.part(value, product)];
    });
    return terms.length ? tape.sum(terms) : ZERO;
  });
};

// --- formulas ------------------------------------------------------------------------------------

/** @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {Decimal[][]} x */
const entries = (tape, value, inputs, x) => {
  const { name, formula, columns } = value.operation;
  const width = value.shape.at(-1) ?? 1;
  const compute = (/** @type {number} */ at, /** @type {Decimal[][]} */ of = x) =>
    formulaAt(tape, value, formula, (position, along) => of[position][placeAlong(along, at, width)]);
  const every = [...Array(size(value.shape)).keys()];
  switch (name) {
    case "mask":
      return every.map((at) => (isHidden(x[1][at]) ? x[1][at] : compute(at)));
    case "exp":
    case "vanishing_exp":
      return exponentials(tape, value, x[0]);
    case "share":
      return every.map((at) => (isZero(x[1][Math.floor(at / width)]) ? x[0][at] : compute(at)));
    case "below_maximum":
      return every.map((at) => {
        const maximum = x[1].length === x[0].length ? x[1][at] : x[1][Math.floor(at / width)];
        return isHidden(maximum) || isHidden(x[0][at]) ? HIDDEN : compute(at);
      });
    case "subtract":
      checkShift(tape, tape.values[value.inputs[1]], x[0]);
      return every.map((at) => compute(at));
    case "neg_log": {
      const across = inputs[0].shape[1];
      return columns.map((/** @type {number | null} */ column, /** @type {number} */ row) => {
        if (column === null) return ZERO;
        return minusLog(tape, x[0][row * across + column]);
      });
    }
    case "negative_log":
      return x[0].map((each) => minusLog(tape, each));
    default:
      return every.map((at) => compute(at));
  }
};

/** @param {string} along @param {number} at @param {number} width */
const placeAlong = (along, at, width) =>
  along === "one" ? 0 : along === "row" ? Math.floor(at / width) : along === "column" ? at % width : at;

/** @param {Tape} tape @param {Decimal} p */
const minusLog = (tape, p) => {
  if (isZero(p)) throw new NoResult("the target's probability is 0");
  return negate(logarithm(p, tape.context));
};

/** Whether e^a is neither too large nor too small to compute with, for all of these. @param {Tape} tape @param {Decimal[]} x */
const hasPowers = ({ largestExponent }, x) => x.every((a) => isInfinite(a) || compare(absolute(a), largestExponent) < 0);

/** Refuse a state in which the largest score of a row need not be subtracted. @param {Tape} tape @param {TapeValue} largest @param {Decimal[]} x */
const checkShift = (tape, largest, x) => {
  if (largest.operation.kind !== "max" || tape.data.shifts || !hasPowers(tape, x)) return;
  throw new OtherSteps("the largest score is not subtracted");
};

/** e^a, 0 if that is too small a number; not for all scores of a row. @param {Tape} tape @param {TapeValue} value @param {Decimal[]} x */
const exponentials = (tape, value, x) => {
  const least = negate(tape.largestExponent);
  const isShifted = ["subtract", "below_maximum"].includes(tape.values[value.inputs[0]].operation.name || "");
  if (!isShifted && !hasPowers(tape, x)) {
    throw new OtherSteps("the largest score is subtracted first");
  }
  const powers = x.map((a) => (isHidden(a) || compare(a, least) < 0 ? ZERO : exponential(a, tape.context)));
  const rows = value.shape.length > 1 ? value.shape[0] : 1;
  rowsOf(x, rows).forEach((row, i) => {
    const own = powers.slice(i * row.length, (i + 1) * row.length);
    const far = row.some((a) => !isHidden(a) && compare(a, least) < 0);
    if (far && own.every(isZero) && value.operation.name === "exp") throw new NoResult("all weights of a row vanish");
  });
  return powers;
};

/**
 * A formula with the operands of an entry.
 * @param {Tape} tape @param {TapeValue} value @param {FormulaTree} formula
 * @param {(position: number, along: string) => Decimal} operand @returns {Decimal}
 */
const formulaAt = (tape, value, formula, operand, context = tape.context) => {
  const at = (/** @type {FormulaTree} */ inner) => formulaAt(tape, value, inner, operand, context);
  const [kind, ...parts] = formula;
  switch (kind) {
    case "operand":
      return operand(parts[0], parts[1]);
    case "number":
      return decimal(parts[0]);
    case "pi":
      return PI;
    case "part":
      return tape.pencil.part(value, at(parts[0]));
    case "subtotal":
      return at(parts[0]);
    case "sum":
      return parts.map(at).reduce((a, b) => tape.sum([a, b]));
    case "difference":
      return tape.sum([at(parts[0]), negate(at(parts[1]))]);
    case "product":
      return product(tape, value, parts, at);
    case "quotient":
      return quotient(at(parts[0]), divisorAt(tape, value, parts[1], operand), context);
    case "power": {
      const [base, exponent] = parts;
      if (exponent[0] === "number") return Array(Number(exponent[1])).fill(at(base)).reduce((a, b) => multiply(a, b, context));
      return power(at(base), divide(at(exponent[1]), at(exponent[2]), context), context);
    }
    case "root":
      return squareRoot(at(parts[0]), context);
    case "exponential":
      return exponential(at(parts[0]), context);
    case "negative":
      return negate(at(parts[0]));
    case "call":
      return called(parts[0], parts.slice(1).map(at), context);
    default:
      throw new Error(`no formula ${kind}`);
  }
};

/** A product; (a / b) · c is a · c / b, if no line rounds the quotient. @param {Tape} tape @param {TapeValue} value @param {FormulaTree[]} factors @param {(formula: FormulaTree) => Decimal} at */
const product = ({ context, data }, value, factors, at) => {
  const [first, second] = factors;
  const divides = factors.length === 2 && first[0] === "part" && first[1][0] === "quotient";
  if (!divides || data.carry === "line") return factors.map(at).reduce((a, b) => multiply(a, b, context));
  const [, over, under] = first[1];
  return divide(multiply(at(over), at(second), context), at(under), context);
};

/** A divisor; one with a power of e may be beyond all bounds. @param {Tape} tape @param {TapeValue} value @param {FormulaTree} formula @param {(position: number, along: string) => Decimal} operand */
const divisorAt = (tape, value, formula, operand) =>
  formulaAt(tape, value, formula, operand, { ...tape.context, saturates: true });

/** @param {Decimal} over @param {Decimal} under @param {Context} context */
const quotient = (over, under, context) => (isInfinite(under) ? ZERO : divide(over, under, context));

/** @param {string} name @param {Decimal[]} of @param {Context} context */
const called = (name, of, context) => {
  switch (name) {
    case "max":
      return of.reduce(larger); // of two numbers, or of a row
    case "min":
      return compare(of[0], of[1]) <= 0 ? of[0] : of[1];
    case "ReLU′":
      return compare(of[0], ZERO) > 0 ? whole(1) : ZERO;
    case "Φ":
      return normalShare(of[0], context);
    case "ln":
      return logarithm(of[0], context);
    case "sin":
      return sine(of[0], context);
    case "cos":
      return cosine(of[0], context);
    case "tanh":
      return hyperbolicTangent(of[0], context);
    default:
      throw new Error(`no function ${name}`);
  }
};
