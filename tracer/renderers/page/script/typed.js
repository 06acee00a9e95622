// @ts-check

// What somebody types in place of a number or a setting of the scenario.

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
