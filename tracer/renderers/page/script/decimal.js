// @ts-check

// Decimals that agree in every digit with Python's `decimal`, and with what the program makes of it
// in formula/numbers.py and formula/arithmetic.py. Their functions are in functions.js and normal.js.

/**
 * c·10^e. Trailing zeros count, as in Python: 1.50 is {c: 150n, e: -2}. ±∞ is {c: ±1n, e: Infinity};
 * there is no -0. A decimal never changes.
 * @typedef {{readonly c: bigint, readonly e: number}} Decimal
 */
/**
 * How results are rounded. "05up" cuts digits off, and makes a last 0 or 5 larger if something was
 * cut off; so a result that is rounded again is rounded as if only once. `inexact` is set to true
 * by an operation that rounds. A result above 10^largest throws; with `saturates` it is ∞.
 * @typedef {{precision: number, rounding: "05up" | "half_even" | "half_up", inexact: boolean,
 *   saturates?: boolean, largest?: number}} Context
 */

/** An operation without a result: "overflow", "division by zero" or "invalid". */
class NoResult extends Error {}

/** Python's limit, up to which an operation has a result. */
const LARGEST = 999_999;
/** The limit of this script, whose exponents are floats. */
const FARTHEST = 10 ** 15;
/** Exponents nearer to 0 than this are within the limits with any number of digits. */
const MODEST = 900_000;

/** @param {number} precision @param {Partial<Context>} [more] @returns {Context} */
const contextOf = (precision, more = {}) => ({
  precision,
  rounding: "05up",
  inexact: false,
  ...more,
});
/** The context of an operation, which has a guard of 10 digits. */
const computing = () => contextOf(60);
/** The context in which the expression of a line is evaluated. */
const evaluating = () => contextOf(60, { saturates: true });
/** The same for ∞ / ∞, which may be two numbers beyond the limit. */
const evaluatingHuge = () => contextOf(60, { saturates: true, largest: FARTHEST });
/** So many digits that a sum is rounded only once. */
const SUMS = contextOf(400);
const TOTALS = contextOf(400, { largest: FARTHEST });

/** A sum below its terms times this has no reliable digit: of decimals, and of stored floats. */
const NOISE = { c: 1n, e: -40 };
const ROUNDED_NOISE = { c: 1n, e: -14 };

const ZERO = { c: 0n, e: 0 };
const ONE = { c: 1n, e: 0 };
const TWO = { c: 2n, e: 0 };
const HALF = { c: 5n, e: -1 };

/** @type {bigint[]} */
const powersOfTen = [];
/** @param {number} n */
const tenTo = (n) => (n < 2000 ? (powersOfTen[n] ??= 10n ** BigInt(n)) : 10n ** BigInt(n));

/** @param {bigint} c */
const sizeOf = (c) => (c < 0n ? -c : c);
/** The number of digits; faster than writing them. @param {bigint} c */
const digitsOf = (c) => {
  const size = sizeOf(c);
  const float = Number(size);
  if (float === 0 || float === Infinity) return String(size).length;
  const digits = Math.floor(Math.log10(float)) + 1; // or one more or less
  return size >= tenTo(digits) ? digits + 1 : size < tenTo(digits - 1) ? digits - 1 : digits;
};
/** @param {Decimal} a */
const isZero = (a) => a.c === 0n;
/** @param {Decimal} a */
const isInfinite = (a) => a.e === Infinity;
/** The exponent of the first digit; 0 of ∞. @param {Decimal} a */
const adjusted = (a) => (a.e === Infinity ? 0 : a.e + digitsOf(a.c) - 1);

/** ∞ with the sign of a number; 0·∞ has none. @param {bigint} sign @returns {Decimal} */
const infinity = (sign) => {
  if (sign === 0n) throw new NoResult("invalid");
  return { c: sign < 0n ? -1n : 1n, e: Infinity };
};

/**
 * The decimal that a text writes, in plain digits or as 1.5e-7.
 * @param {string} text @returns {Decimal}
 */
const decimal = (text) => {
  if (/^[-+]?inf(inity)?$/i.test(text)) return infinity(text[0] === "-" ? -1n : 1n);
  const found = /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(text);
  if (!found || !(found[2] + found[3])) throw new NoResult("invalid");
  const c = BigInt(found[2] + found[3]);
  return { c: found[1] === "-" ? -c : c, e: Number(found[4] || 0) - found[3].length };
};

/** @param {number} n a whole number @returns {Decimal} */
const whole = (n) => ({ c: BigInt(n), e: 0 });

/** A number in plain digits, without a power of ten. @param {Decimal} a */
const textOf = ({ c, e }) => {
  const sign = c < 0n ? "-" : "";
  if (e === Infinity) return `${sign}Infinity`;
  const digits = String(sizeOf(c));
  if (e >= 0) return sign + (c ? digits + "0".repeat(e) : "0");
  const padded = digits.padStart(1 - e, "0");
  return `${sign}${padded.slice(0, e)}.${padded.slice(e)}`;
};

// Rounding

/**
 * Cut off the last digits of a size.
 * @param {bigint} size @param {number} drop @param {Context} context
 */
const cut = (size, drop, context) => {
  const unit = tenTo(drop);
  const kept = size / unit;
  const rest = 2n * (size - kept * unit);
  if (rest === 0n) return kept;
  context.inexact = true;
  const isUp = context.rounding === "half_up" || kept % 2n === 1n; // if it is a tie
  const isNearer = rest > unit || (isUp && rest === unit);
  return (context.rounding === "05up" ? kept % 5n === 0n : isNearer) ? kept + 1n : kept;
};

/**
 * c·10^e with at most the context's digits.
 * @param {bigint} c @param {number} e @param {Context} context
 */
const fit = (c, e, context) => {
  const limit = tenTo(context.precision);
  return c < limit && c > -limit && e < MODEST && e > -MODEST ? { c, e } : fitted(c, e, context);
};

/** @param {bigint} c @param {number} e @param {Context} context @returns {Decimal} */
const fitted = (c, e, context) => {
  const { precision, rounding, saturates = false, largest = LARGEST } = context;
  const least = 1 - largest - precision;
  if (c === 0n) return { c, e: Math.max(least, Math.min(e, largest)) };
  let size = sizeOf(c);
  const digits = digitsOf(size);
  const drop = Math.max(digits - precision, least - e);
  if (drop > 0) {
    // What is less than a tenth of the last digit is as good as such a tenth.
    size = drop > digits ? cut(1n, 2, context) : cut(size, drop, context);
    e += drop;
  }
  if (size === tenTo(precision)) [size, e] = [size / 10n, e + 1];
  const sign = c < 0n ? -1n : 1n;
  if (e + digitsOf(size) - 1 <= largest) return { c: sign * size, e };
  if (!saturates) throw new NoResult("overflow");
  context.inexact = true;
  if (rounding !== "05up") return infinity(sign);
  return { c: sign * (tenTo(precision) - 1n), e: largest - precision + 1 };
};

/** A number, rounded to the context. @param {Decimal} a @param {Context} context */
const plus = (a, context) => (a.e === Infinity ? a : fit(a.c, a.e, context));

// Arithmetic

/** Not rounded; Python's -x is `plus(negate(x), context)`. @param {Decimal} a @returns {Decimal} */
const negate = (a) => ({ c: -a.c, e: a.e });
/** Not rounded. @param {Decimal} a */
const absolute = (a) => (a.c < 0n ? negate(a) : a);

/** @param {Decimal} a @param {Decimal} b @returns {-1 | 0 | 1} */
const compare = (a, b) => {
  if (a.e === b.e) return a.c < b.c ? -1 : a.c > b.c ? 1 : 0;
  const signs = [a, b].map(({ c }) => (c < 0n ? -1 : c > 0n ? 1 : 0));
  if (signs[0] !== signs[1]) return signs[0] < signs[1] ? -1 : 1;
  if (signs[0] === 0) return 0;
  const [first, second] = [a, b].map((x) => (x.e === Infinity ? Infinity : adjusted(x)));
  if (first !== second) return first > second === signs[0] > 0 ? 1 : -1;
  const e = Math.min(a.e, b.e);
  return compare({ c: a.c * tenTo(a.e - e), e }, { c: b.c * tenTo(b.e - e), e });
};

/** @param {Decimal} a @param {Decimal} b @param {Context} context @returns {Decimal} */
const add = (a, b, context) => {
  if (a.e === b.e && a.e !== Infinity) return fit(a.c + b.c, a.e, context);
  const [high, low] = a.e > b.e ? [a, b] : [b, a];
  if (high.e === Infinity) {
    if (low.e === Infinity && low.c !== high.c) throw new NoResult("invalid");
    return high;
  }
  if (high.c === 0n) return fit(low.c, low.e, context);
  const { precision } = context;
  if (high.e - low.e > precision) {
    // A number far behind the last digit that is kept is as good as 1 there.
    const far = Math.min(high.e - 1, adjusted(high) - precision - 1);
    if (low.c === 0n || adjusted(low) < far) {
      const sign = low.c < 0n ? -1n : low.c > 0n ? 1n : 0n;
      const e = low.c === 0n ? Math.max(low.e, high.e - precision - 1) : far;
      return fit(high.c * tenTo(high.e - e) + sign, e, context);
    }
  }
  return fit(high.c * tenTo(high.e - low.e) + low.c, low.e, context);
};

/** @param {Decimal} a @param {Decimal} b @param {Context} context */
const subtract = (a, b, context) => add(a, negate(b), context);

/** @param {Decimal} a @param {Decimal} b @param {Context} context */
const multiply = (a, b, context) => {
  const e = a.e + b.e;
  return e === Infinity ? infinity(a.c * b.c) : fit(a.c * b.c, e, context);
};

/**
 * An exact quotient has the exponent a.e - b.e, or one as near to it as possible.
 * @param {Decimal} a @param {Decimal} b @param {Context} context @returns {Decimal}
 */
const divide = (a, b, context) => {
  if (isInfinite(a)) return isInfinite(b) ? infinity(0n) : infinity(b.c < 0n ? -a.c : a.c);
  const { precision, largest = LARGEST } = context;
  if (isInfinite(b)) return { c: 0n, e: 1 - largest - precision };
  if (b.c === 0n) throw new NoResult(a.c === 0n ? "invalid" : "division by zero");
  const ideal = a.e - b.e;
  if (a.c === 0n) return fit(0n, ideal, context);
  const shift = digitsOf(b.c) - digitsOf(a.c) + precision + 1;
  const [over, under] = shift < 0 ? [a.c, b.c * tenTo(-shift)] : [a.c * tenTo(shift), b.c];
  const quotient = over / under;
  if (quotient * under === over) return fit(...lessZeros(quotient, ideal - shift, ideal), context);
  // One more digit than is kept: it shows that something was cut off.
  const sign = a.c < 0n === b.c < 0n ? 1n : -1n;
  return fit(quotient % 5n === 0n ? quotient + sign : quotient, ideal - shift, context);
};

/**
 * c·10^e without trailing zeros, but with an exponent of at most `most`.
 * @param {bigint} c @param {number} e @param {number} most @returns {[bigint, number]}
 */
const lessZeros = (c, e, most) => {
  if (e >= most || c % 10n !== 0n) return [c, e];
  const text = String(c);
  let zeros = 1;
  while (e + zeros < most && text[text.length - zeros - 1] === "0") zeros += 1;
  return [c / tenTo(zeros), e + zeros];
};

// Sums

/**
 * A sum, or 0 if it is only the rounding error of terms of this size.
 * @param {Decimal} total @param {Decimal} size @param {Decimal} noise
 */
const settled = (total, size, noise) =>
  compare(absolute(total), multiply(size, noise, SUMS)) < 0 ? ZERO : total;

/**
 * The sum of terms with 400 digits, 0 if it is noise.
 * @param {readonly Decimal[]} terms @param {Decimal} noise
 */
const sumOf = (terms, noise) => {
  let [lowest, highest] = [Infinity, -Infinity];
  for (const { e } of terms) {
    if (e < lowest) lowest = e;
    if (e > highest) highest = e;
  }
  if (terms.length === 0) return ZERO;
  if (highest - lowest < 300 && Math.abs(lowest) < MODEST) {
    let [total, size] = [0n, 0n];
    for (const { c, e } of terms) {
      const aligned = e === lowest ? c : c * tenTo(e - lowest);
      total += aligned;
      size += sizeOf(aligned);
    }
    if (size < tenTo(SUMS.precision)) {
      return sizeOf(total) * tenTo(-noise.e) < size ? ZERO : { c: total, e: lowest };
    }
  }
  const size = terms.map(absolute).reduce((a, b) => add(a, b, SUMS));
  return settled(terms.reduce((a, b) => add(a, b, SUMS)), size, noise);
};

/**
 * The sum of a line's terms with 400 digits, whole if they are.
 * @param {readonly Decimal[]} terms
 */
const totalOf = (terms) => terms.reduce((a, b) => add(a, b, TOTALS), ZERO);

// Rounding to places

/** @type {Context} */
const halfUp = contextOf(60, { rounding: "half_up" });
const SCIENTIFIC_FROM = 12;
const PLAIN_ZEROS = 4;

/** Ties away from zero; ∞ stays. @param {Decimal} a @param {number} places @returns {Decimal} */
const roundHalfAway = (a, places) => {
  const { c, e } = a;
  if (e === Infinity) return a;
  if (c === 0n) return { c, e: -places };
  const drop = -places - e;
  if (drop < -60) return plus(a, computing()); // it ends far before that place
  if (drop > 400 && drop > digitsOf(c)) return { c: 0n, e: -places }; // it begins far behind it
  const size = sizeOf(c);
  const kept = drop > 0 ? cut(size, drop, halfUp) : size * tenTo(-drop);
  return kept < tenTo(60) ? { c: c < 0n ? -kept : kept, e: -places } : plus(a, computing());
};

/**
 * Without trailing zeros: 1.080 is 1.08, 120 is 120, 1.50·10^12 is 1.5·10^12.
 * @param {Decimal} a @returns {Decimal}
 */
const trimmed = (a) => {
  const { c, e } = plus(a, computing());
  if (c === 0n) return ZERO;
  const [least, power] = lessZeros(c, e, Infinity);
  const isWhole = power > 0 && a.e <= 0 && power + digitsOf(least) - 1 < SCIENTIFIC_FROM;
  return isWhole ? { c: least * tenTo(power), e: 0 } : { c: least, e: power };
};

/**
 * `decimals`, or places for two digits if they show too little.
 * @param {Decimal} a @param {number} decimals
 */
const visiblePlaces = (a, decimals) => {
  if (a.c === 0n || -a.e <= decimals || adjusted(a) >= -decimals) return decimals;
  const showsTooLittle = decimals > PLAIN_ZEROS || isZero(roundHalfAway(a, decimals));
  return showsTooLittle ? 1 - adjusted(a) : decimals;
};

/**
 * `places` and up to `guard` more, but no more digits than the number has.
 * @param {Decimal} a @param {number} places @param {number} guard
 */
const guarded = (a, places, guard) => Math.max(places, Math.min(places + guard, -trimmed(a).e));

// What is stored: never a tie that the exact result is not, because ties are rounded up in print

/** Whether rounding to fewer digits may find a tie. @param {Decimal} a @param {number} longest */
const mayBeATie = (a, longest) => {
  if (a.c === 0n) return false;
  const [c] = lessZeros(a.c, a.e, Infinity);
  return c % 5n === 0n && digitsOf(c) <= longest;
};

/** The nearest number with 50 digits. @param {Decimal} a */
const toNearestDecimal = (a) => {
  const nearest = plus(a, contextOf(50, { rounding: "half_even" }));
  if (nearest.c === a.c || compare(nearest, a) === 0) return a;
  return mayBeATie(nearest, 40) ? plus(a, contextOf(50)) : nearest;
};

/** The nearest float, written with the least digits that name it. @param {Decimal} a */
const toNearestFloat = (a) => {
  const { c, e } = a;
  // Of 15 digits or less a float keeps all.
  if (c < tenTo(15) && c > -tenTo(15) && e > -300 && e < 290) return a;
  if (e === Infinity) return a;
  const nearest = Number(`${c}e${e}`);
  if (!Number.isFinite(nearest)) throw new NoResult("overflow");
  const shortest = ofFloat(nearest);
  const order = compare(a, shortest);
  if (order === 0) return a;
  return mayBeATie(shortest, 14) ? ofFloat(nextFloat(nearest, order)) : shortest;
};

/** A float as Python writes it: 100000.0, but 1e+16. @param {number} number @returns {Decimal} */
const ofFloat = (number) => {
  const { c, e } = decimal(number.toExponential());
  return e >= 0 && e + digitsOf(c) <= 16 ? { c: c * tenTo(e + 1), e: -1 } : { c, e };
};

/** The float beside a finite one. @param {number} number @param {number} direction 1 or -1 */
const nextFloat = (number, direction) => {
  if (number === 0) return direction * Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([number]).buffer);
  bits[0] += number > 0 === direction > 0 ? 1n : -1n;
  return new Float64Array(bits.buffer)[0];
};
