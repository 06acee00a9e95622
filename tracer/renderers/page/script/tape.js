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
 * @property {number} [significant] the least significant digits
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

  /** A number without rounding errors that could move it across a tie. @param {Decimal} number */
  settled(number) {
    return plus(number, this.data.floats ? SETTLED_FLOAT : SETTLED);
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

/** @param {any} a @param {any} b */
const same = (a, b) => (typeof a === "string" ? a === b : a.c === b.c && a.e === b.e);
