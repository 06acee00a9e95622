// @ts-check

// The normal distribution: its density, and the share below a number.

/**
 * Φ, the share of a standard normal distribution below x.
 * @param {Decimal} x @param {Context} context
 */
const normalShare = (x, context) => {
  if (x.c) context.inexact = true;
  /** @type {Context} */
  const longer = { ...context, precision: context.precision + 10, rounding: "half_even" };
  if (compare(absolute(x), whole(16)) > 0) {
    const tail = normalTail(plus(absolute(x), longer), longer);
    return plus(x.c < 0n ? tail : subtract(ONE, tail, longer), context);
  }
  // The sum is nearly ½ where the share is small: its first digits cancel.
  const quarter = divide(multiply(x, x, longer), whole(4), longer);
  longer.precision += Number(inBinary(quarter, 0)) + 1;
  return plus(add(HALF, normalMiddle(x, longer), longer), context);
};

/** @param {Decimal} x @param {Context} context */
const normalDensity = (x, context) => {
  const square = multiply(plus(negate(x), context), x, context);
  const width = squareRoot(multiply(TWO, PI, context), context);
  return divide(exponential(divide(square, TWO, context), context), width, context);
};

/**
 * Whether a term is large enough to change a sum.
 * @param {Decimal} total @param {Decimal} term @param {Context} context
 */
const changes = (total, term, context) => compare(add(total, term, context), total) !== 0;

/**
 * Φ(x) - ½ = φ(x) (x + x³/3 + x⁵/(3·5) + …).
 * @param {Decimal} x @param {Context} context
 */
const normalMiddle = (x, context) => {
  const square = multiply(x, x, context);
  let [term, total] = [x, x];
  for (let n = 3; n === 3 || changes(total, term, context); n += 2) {
    term = multiply(term, divide(square, whole(n), context), context);
    total = add(total, term, context);
  }
  return multiply(total, normalDensity(x, context), context);
};

/**
 * 1 - Φ(x) = φ(x)/x (1 - 1/x² + 3/x⁴ - …), until the terms grow.
 * @param {Decimal} x @param {Context} context
 */
const normalTail = (x, context) => {
  const square = multiply(x, x, context);
  let [term, total] = [ONE, ONE];
  for (let n = 1; changes(total, term, context) && compare(whole(n), square) < 0; n += 2) {
    term = multiply(term, divide(whole(-n), square, context), context);
    total = add(total, term, context);
  }
  return divide(multiply(total, normalDensity(x, context), context), x, context);
};
