// @ts-check

// Expressions such as ["sum", a, b]: their values, as a reader would compute them, and how a line
// evaluates a formula part by part.

/**
 * The name of its kind and what it is made of, as in tracer/formula/expression.py. A number has its
 * decimal and the entry that it shows, if any.
 * @typedef {any[]} Expression
 */
/** A number of a value on the tape, counted row by row. @typedef {{of: number, at: number}} TapeEntry */

/** A number larger than any that is printed. */
class BeyondAllBounds extends Error {}

/** @param {Decimal} value @param {TapeEntry} [entry] @returns {Expression} */
const lineNumber = (value, entry) => ["number", value, entry];

/** What counts of an expression: not the entries of terms that are not written out. @param {Expression} e */
const compared = (e) => (e[0] === "rest" ? e.slice(0, 3) : e);

/** The expressions that an expression is directly made of, in the order of reading. @param {Expression} e @returns {Expression[]} */
const partsOf = (e) => compared(e).filter(Array.isArray);

/** Whether two expressions are made of equal numbers in the same way. @param {Expression} a @param {Expression} b @returns {boolean} */
const isEqual = (a, b) => {
  if (a[0] !== b[0] || a.length !== b.length) return false;
  if (a[0] === "number") return compare(a[1], b[1]) === 0;
  return compared(a).every((part, i) => (Array.isArray(part) ? isEqual(part, b[i]) : part === b[i]));
};

/** @type {WeakMap<Expression, {number: Decimal, exact: boolean}>} */
const valuesOfExpressions = new WeakMap();

/** The value of an expression, and whether it is exact. @param {Expression} e */
const valueOfExpression = (e) => {
  const known = valuesOfExpressions.get(e);
  if (known) return known;
  const context = evaluating();
  const number = evaluated(e, context);
  const found = { number, exact: !context.inexact };
  valuesOfExpressions.set(e, found);
  return found;
};

/** @param {Expression} e @param {Context} context @returns {Decimal} */
const evaluated = (e, context) => {
  const [name, ...parts] = e;
  /** @param {Expression} part */
  const of = (part) => evaluated(part, context);
  /** 0 divided by anything is exactly 0: also by √2. @param {Decimal} dividend @param {Expression} by */
  const divided = (dividend, by) => (isZero(dividend) ? dividend : divide(dividend, of(by), context));
  switch (name) {
    case "number":
      return parts[0];
    case "rest":
      return of(parts[1]);
    case "part":
    case "subtotal":
      return of(parts[0]);
    case "pi":
      context.inexact = true;
      return PI;
    case "sum":
      return plus(totalOf(parts.map(of)), context);
    case "difference":
      return plus(totalOf([of(parts[0]), negate(of(parts[1]))]), context);
    case "product": {
      const [first, ...others] = parts;
      const [kind, over, under] = first[0] === "part" ? first[1] : first;
      // Multiplied first: (-2.8 / 2.4)·0.9 is -1.05 exactly.
      if (kind === "quotient") return divided(of(["product", over, ...others]), under);
      return parts.map(of).reduce((a, b) => multiply(a, b, context));
    }
    case "quotient":
      return divided(of(parts[0]), parts[1]);
    case "power": {
      const [base, [kind, over, under]] = parts;
      const isRoot = kind === "quotient" && over[0] === "number" && under[0] === "number";
      if (isRoot) return rootOfPower(of(base), over[1], under[1], context);
      return power(of(base), of(parts[1]), context);
    }
    case "root":
      return squareRoot(of(parts[0]), context);
    case "exponential":
      return exponential(of(parts[0]), context);
    case "negative":
      return negate(of(parts[0]));
    case "call": {
      const [call, ...inner] = parts;
      return called(call, inner.map((each) => (JUMPS.includes(call) ? plus(of(each), SETTLED) : of(each))), context);
    }
    default:
      throw new Error(`${name} has no value`);
  }
};

/** `=` where each part of `left` is the same in `right` or replaced by its exact value. @param {Expression} left @param {Expression} right */
const relationOf = (left, right) => {
  const alike = jumps(right) ? compare(valueOfExpression(left).number, valueOfExpression(right).number) === 0 : isSame(left, right);
  return alike ? "=" : "≈";
};

/** Whether a number is rounded in a side, so that its last digits may matter. @param {Expression} e @returns {boolean} */
const jumps = (e) => (e[0] === "call" && JUMPS.includes(e[1])) || partsOf(e).some(jumps);

/** @param {Expression} left @param {Expression} right @returns {boolean} */
const isSame = (left, right) => {
  if (isEqual(left, right)) return true;
  if (right[0] === "number") {
    const { number, exact } = valueOfExpression(left);
    return exact && compare(number, right[1]) === 0;
  }
  const [parts, others] = [left, right].map(partsOf);
  const alike = left[0] === right[0] && parts.length === others.length && parts.length > 0;
  return alike && parts.every((part, i) => isSame(part, others[i]));
};

/** Whether a number is `left`, correctly rounded to so many decimals. @param {Expression} left @param {Expression} right @param {number} decimals */
const holds = (left, right, decimals) =>
  compare(roundHalfAway(valueOfExpression(left).number, decimals), right[1]) === 0;

/**
 * The sides of the worked line of a formula, all but the result. The first has the operands put in;
 * each next one evaluates one more level of parts.
 * @param {Expression} formula
 * @param {(operand: Expression) => Expression} operand
 * @param {(inner: Expression) => Expression} part
 * @param {(inner: Expression) => Expression} subtotal
 */
const sidesOfFormula = (formula, operand, part, subtotal) => {
  /** @param {number} level @returns {(e: Expression, inner: Expression) => Expression} */
  const known = (level) => (e, inner) => {
    if (depthOf(e) > level) return inner;
    if (isInfinite(valueOfExpression(inner).number)) throw new BeyondAllBounds();
    return e[0] === "part" ? part(inner) : subtotal(inner);
  };
  /** @type {Expression[]} */
  const sides = [];
  try {
    for (let level = 0; level <= depthOf(formula); level += 1) {
      sides.push(putIn(formula, operand, known(level)));
    }
  } catch (error) {
    if (!(error instanceof BeyondAllBounds)) throw error; // such a number is not printed
  }
  return sides;
};

/**
 * The formula with replaced operands and shown parts.
 * @param {Expression} e
 * @param {(operand: Expression) => Expression} operand
 * @param {(e: Expression, inner: Expression) => Expression} shown
 * @returns {Expression}
 */
const putIn = (e, operand, shown) => {
  switch (e[0]) {
    case "operand":
      return operand(e);
    case "number":
      return lineNumber(decimal(e[1]));
    case "part":
    case "subtotal":
      return shown(e, putIn(e[1], operand, shown));
    case "negative": {
      const inner = putIn(e[1], operand, shown);
      return inner[0] === "number" && isZero(inner[1]) ? inner : ["negative", inner];
    }
    default:
      return e.map((part) => (Array.isArray(part) ? putIn(part, operand, shown) : part));
  }
};

/** The nesting depth of the parts that a line shows. @param {Expression} e @returns {number} */
const depthOf = (e) => {
  const isShown = e[0] === "part" || e[0] === "subtotal";
  return Number(isShown) + Math.max(0, ...partsOf(e).map(depthOf));
};
