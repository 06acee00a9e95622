// @ts-check

// Exact decimals that agree with Python's `decimal` and the program's use of it in every digit.

/**
 * c·10^e. Trailing zeros count, as in Python: 1.50 is {c: 150n, e: -2}. ±∞ is {c: ±1n, e: Infinity}.
 * There is no -0. Nothing changes a decimal.
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
/** Exponents nearer to 0 than this are within the limits with any number of digits. */
const MODEST = 900_000;

/** @param {number} precision @param {Partial<Context>} [more] @returns {Context} */
const contextOf = (precision, more = {}) => ({ precision, rounding: "05up", inexact: false, ...more });
/** The context of an operation, which has a guard of 10 digits. */
const computing = () => contextOf(60);
/** The context in which the expression of a line is evaluated. */
const evaluating = () => contextOf(60, { saturates: true });
/** The same for ∞ / ∞, which may be two numbers beyond the limit. (Python's own is 10^18.) */
const evaluatingHuge = () => contextOf(60, { saturates: true, largest: 10 ** 15 });
/** So many digits that a sum is rounded only once. */
const SUMS = contextOf(400);

/** A sum below its terms times this has no reliable digit: of decimals, and of rounded to floats. */
const NOISE = { c: 1n, e: -40 };
const ROUNDED_NOISE = { c: 1n, e: -14 };

const ZERO = { c: 0n, e: 0 };
const ONE = { c: 1n, e: 0 };
const TWO = { c: 2n, e: 0 };
const HALF = { c: 5n, e: -1 };
const PI = {
  c: 3_141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117067982148086513282306647093844609550582231725359408128n,
  e: -150,
};

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

/** The decimal that a text writes, in plain digits or as 1.5e-7. @param {string} text @returns {Decimal} */
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

/** Cut off the last digits of a size. @param {bigint} size @param {number} drop @param {Context} context */
const cut = (size, drop, context) => {
  const unit = tenTo(drop);
  const kept = size / unit;
  const rest = 2n * (size - kept * unit);
  if (rest === 0n) return kept;
  context.inexact = true;
  const half = context.rounding === "half_up" || kept % 2n === 1n;
  const up = context.rounding === "05up" ? kept % 5n === 0n : rest > unit || (half && rest === unit);
  return up ? kept + 1n : kept;
};

/** c·10^e with at most the context's digits. @param {bigint} c @param {number} e @param {Context} context */
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
    size = drop > digits + 1 ? cut(1n, 2, context) : cut(size, drop, context);
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

/** An exact quotient has the exponent a.e - b.e, or one as near to it as possible. */
/** @param {Decimal} a @param {Decimal} b @param {Context} context @returns {Decimal} */
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

/** c·10^e without trailing zeros, but with an exponent of at most `most`. */
/** @param {bigint} c @param {number} e @param {number} most @returns {[bigint, number]} */
const lessZeros = (c, e, most) => {
  if (e >= most || c % 10n !== 0n) return [c, e];
  const text = String(c);
  let zeros = 1;
  while (e + zeros < most && text[text.length - zeros - 1] === "0") zeros += 1;
  return [c / tenTo(zeros), e + zeros];
};

/** The whole part of the root of a whole number. @param {bigint} n */
const wholeRoot = (n) => {
  const drop = BigInt(Math.max(0, 2 * Math.ceil((n.toString(16).length * 4 - 100) / 2)));
  let root = (BigInt(Math.ceil(Math.sqrt(Number(n >> drop)))) + 1n) << (drop / 2n);
  for (;;) {
    const next = (root + n / root) >> 1n; // Newton's method, from above
    if (next >= root) return root;
    root = next;
  }
};

/** Rounded half to even, as Python does in any context; an exact root keeps half the exponent. */
/** @param {Decimal} a @param {Context} context @returns {Decimal} */
const squareRoot = (a, context) => {
  if (a.c < 0n) throw new NoResult("invalid");
  const ideal = Math.floor(a.e / 2);
  if (isInfinite(a)) return a;
  if (a.c === 0n) return fit(0n, ideal, context);
  const c = a.e % 2 ? a.c * 10n : a.c;
  const shift = context.precision + 1 - Math.ceil(digitsOf(c) / 2);
  const scaled = shift < 0 ? c / tenTo(-2 * shift) : c * tenTo(2 * shift);
  const root = wholeRoot(scaled);
  const isExact = shift < 0 ? (root * tenTo(-shift)) ** 2n === c : root * root === scaled;
  if (isExact) return halfEven(...lessZeros(root, ideal - shift, ideal), context);
  return halfEven(root % 5n === 0n ? root + 1n : root, ideal - shift, context);
};

/** c·10^e, rounded half to even whatever the context. @param {bigint} c @param {number} e @param {Context} context */
const halfEven = (c, e, context) => {
  /** @type {Context} */
  const even = { ...context, rounding: "half_even" };
  const result = fit(c, e, even);
  context.inexact = even.inexact;
  return result;
};

// Sums

/** A sum, or 0 if it is only the rounding error of terms of this size. */
/** @param {Decimal} total @param {Decimal} size @param {Decimal} noise */
const settled = (total, size, noise) =>
  compare(absolute(total), multiply(size, noise, SUMS)) < 0 ? ZERO : total;

/** The sum of terms with 400 digits, 0 if it is noise. @param {readonly Decimal[]} terms @param {Decimal} noise */
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

/** The sum of a line's terms with 400 digits, whole if they are. @param {readonly Decimal[]} terms */
const totalOf = (terms) => terms.reduce((a, b) => add(a, b, { ...SUMS, largest: 10 ** 15 }), ZERO);

// Rounding to places

/** Ties away from zero; ∞ stays. @param {Decimal} a @param {number} places @returns {Decimal} */
const roundHalfAway = (a, places) => {
  const { c, e } = a;
  if (e === Infinity) return a;
  if (c === 0n) return { c, e: -places };
  const drop = -places - e;
  if (drop < -60) return plus(a, computing()); // it ends far before that place
  const size = sizeOf(c);
  const kept =
    drop <= 0 ? size * tenTo(-drop)
    : drop > 60 && drop > digitsOf(c) + 1 ? 0n
    : cut(size, drop, contextOf(60, { rounding: "half_up" }));
  return kept < tenTo(60) ? { c: c < 0n ? -kept : kept, e: -places } : plus(a, computing());
};

/** Without trailing zeros: 1.080 is 1.08, 120 is 120, 1.50·10^12 is 1.5·10^12. @param {Decimal} a @returns {Decimal} */
const trimmed = (a) => {
  const { c, e } = plus(a, computing());
  if (c === 0n) return ZERO;
  const [least, power] = lessZeros(c, e, Infinity);
  const isWhole = power > 0 && a.e <= 0 && power + digitsOf(least) - 1 < SCIENTIFIC_FROM;
  return isWhole ? { c: least * tenTo(power), e: 0 } : { c: least, e: power };
};
const SCIENTIFIC_FROM = 12;
const PLAIN_ZEROS = 4;

/** `decimals`, or places for two digits if they show too little. @param {Decimal} a @param {number} decimals */
const visiblePlaces = (a, decimals) => {
  if (a.c === 0n || -a.e <= decimals || adjusted(a) >= -decimals) return decimals;
  const showsTooLittle = decimals > PLAIN_ZEROS || isZero(roundHalfAway(a, decimals));
  return showsTooLittle ? 1 - adjusted(a) : decimals;
};

/** `places` and up to `guard` more, but no more digits than the number has. */
/** @param {Decimal} a @param {number} places @param {number} guard */
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

// Functions, correctly rounded: computed in binary fixed point, with more bits until all are sure

/** a·2^bits, cut off. @param {Decimal} a @param {number} bits */
const inBinary = ({ c, e }, bits) =>
  e < 0 ? (c << BigInt(bits)) / tenTo(-e) : (c * tenTo(e)) << BigInt(bits);

/** x / 2^bits, which is wrong by `error` at most, rounded half to even; undefined if not sure. */
/** @param {bigint} x @param {bigint} error @param {number} bits @param {number} places @param {number} precision */
const sureDigits = (x, error, bits, places, precision) => {
  const context = contextOf(precision, { rounding: "half_even" });
  const [low, high] = [x - error, x + error].map((end) =>
    fit((end * tenTo(places)) >> BigInt(bits), -places, context),
  );
  return low.c === high.c && low.e === high.e ? low : undefined;
};

/** artanh(1/n)·2^bits. @param {bigint} n @param {number} bits */
const inverseTangent = (n, bits) => {
  let [power, total] = [(1n << BigInt(bits)) / n, 0n];
  for (let k = 1n; power; k += 2n) [total, power] = [total + power / k, power / (n * n)];
  return total;
};

/** @type {Map<number, bigint>} */
const logarithmsOfTen = new Map();
/** ln 10·2^bits. @param {number} bits */
const logarithmOfTen = (bits) => {
  let known = logarithmsOfTen.get(bits);
  if (known === undefined) {
    const [a, b, c] = [31n, 49n, 161n].map((n) => inverseTangent(n, bits + 20));
    logarithmsOfTen.set(bits, (known = (46n * a + 34n * b + 20n * c) >> 20n));
  }
  return known;
};

/** e^x for x and its result in units of 2^-bits, |x| < 3, wrong by a unit or two. */
/** @param {bigint} x @param {number} bits */
const powerOfE = (x, bits) => {
  // e^x is (e^(x/256))^256: each squaring doubles the relative error, so there are more bits.
  const more = BigInt(bits + 24);
  const small = x << 16n;
  let term = 1n << more;
  let total = term;
  for (let n = 1n; term; n += 1n) total += term = ((term * small) >> more) / n;
  for (let n = 0; n < 8; n += 1) total = (total * total) >> more;
  return total >> 24n;
};

/** Bits for so many digits. @param {number} digits */
const bitsOf = (digits) => Math.ceil(digits * 3.322);

/** @param {Decimal} a @param {Context} context @returns {Decimal} */
const exponential = (a, context) => {
  if (a.c === 0n) return ONE;
  if (isInfinite(a)) return a.c > 0n ? a : ZERO;
  const { precision } = context;
  context.inexact = true;
  const size = adjusted(a);
  if (size < -precision - 2) return longOne(precision);
  if (size > 15) return halfEven(1n, a.c > 0n ? 2 ** 52 : -(2 ** 52), context);
  for (let digits = precision + 10; ; digits += digits) {
    // a = n·ln 10 + rest, so e^a = 10^n·e^rest
    const bits = bitsOf(digits);
    const [x, ten] = [inBinary(a, bits + 64), logarithmOfTen(bits + 64)];
    const n = x < 0n ? x / ten - 1n : x / ten;
    const found = powerOfE((x - n * ten) >> 64n, bits);
    const sure = sureDigits(found, 64n, bits, digits, precision);
    if (sure) return halfEven(sure.c, sure.e + Number(n), context);
  }
};

/** The natural logarithm. @param {Decimal} a @param {Context} context @returns {Decimal} */
const logarithm = (a, context) => {
  if (a.c < 0n) throw new NoResult("invalid");
  if (a.c === 0n) return infinity(-1n);
  if (isInfinite(a)) return a;
  const fromOne = add(a, { c: -1n, e: 0 }, SUMS);
  if (fromOne.c === 0n) return ZERO;
  const { precision } = context;
  context.inexact = true;
  // a = m·10^n with m from 0.3 to 3; near 1, the first digits of ln m are zeros.
  const n = adjusted(a) + (String(a.c)[0] < "3" ? 0 : 1);
  const zeros = n === 0 ? Math.max(0, -adjusted(fromOne)) : 0;
  for (let digits = precision + zeros + 10; ; digits += digits) {
    const bits = bitsOf(digits);
    const unit = 1n << BigInt(bits);
    const m = inBinary({ c: a.c, e: a.e - n }, bits);
    // ln m = near + ln(1 + z), where near is the float's logarithm and 1 + z = m / e^near
    const float = Math.log(Number(m >> BigInt(bits - 60)) / 2 ** 60);
    const near = BigInt(Math.round(float * 2 ** 52)) << BigInt(bits - 52);
    const z = ((m * powerOfE(-near, bits)) >> BigInt(bits)) - unit;
    let [power, total] = [z, near];
    for (let k = 1n; power !== 0n && power !== -1n; k += 1n) {
      total += power / k;
      power = -((power * z) >> BigInt(bits));
    }
    total += (BigInt(n) * logarithmOfTen(bits + 64)) >> 64n;
    const sure = sureDigits(total, 64n, bits, digits, precision);
    if (sure) return halfEven(sure.c, sure.e, context);
  }
};

// Powers: not correctly rounded, so they take the steps of Python's library

/** 1 with all digits. @param {number} precision @returns {Decimal} */
const longOne = (precision) => ({ c: tenTo(precision - 1), e: 1 - precision });

/** a^b for a finite b. @param {Decimal} a @param {Decimal} b @param {Context} context @returns {Decimal} */
const power = (a, b, context) => {
  const isWhole = b.e >= 0 || b.c % tenTo(-b.e) === 0n;
  const times = isWhole ? sizeOf(inBinary(b, 0)) : 0n;
  const sign = a.c < 0n && times % 2n === 1n ? -1n : 1n;
  if ((a.c === 0n && b.c === 0n) || (a.c < 0n && !isWhole) || isInfinite(b)) throw new NoResult("invalid");
  if (a.c === 0n || isInfinite(a)) {
    if (b.c === 0n) return ONE;
    return (a.c === 0n) === b.c < 0n ? infinity(sign) : ZERO;
  }
  if (b.c === 0n) return ONE;
  const { precision } = context;
  if (compare(absolute(a), ONE) === 0) {
    if (!isWhole) context.inexact = true;
    const zeros = isWhole ? (b.c < 0n ? 0 : Math.min(Number(times) * -a.e, precision - 1)) : precision - 1;
    return { c: sign * tenTo(zeros), e: -zeros };
  }
  return isWhole ? wholePower(a, b, times, context) : realPower(a, b, context);
};

/** By squaring; no formula has an exponent of many digits. @param {Decimal} a @param {Decimal} b @param {bigint} times |b| @param {Context} context */
const wholePower = (a, b, times, context) => {
  if (adjusted(b) > 9) throw new NoResult("overflow");
  const more = adjusted(b) + 3 + (b.c < 0n ? 1 : 0);
  /** @type {Context} */
  const longer = { ...context, precision: context.precision + more, rounding: "half_even" };
  const base = b.c < 0n ? divide(ONE, a, longer) : a;
  let result = base;
  for (const bit of times.toString(2).slice(1)) {
    result = multiply(result, result, longer);
    if (bit === "1") result = multiply(result, base, longer);
    if (isInfinite(result) || isZero(result)) break;
  }
  context.inexact = longer.inexact;
  return plus(result, context);
};

/** e^(b ln a). @param {Decimal} a @param {Decimal} b @param {Context} context */
const realPower = (a, b, context) => {
  const { precision } = context;
  const longer = contextOf(Math.max(digitsOf(a.c), precision) + 23, {
    ...{ rounding: "half_even", saturates: true, largest: 10 ** 15 },
  });
  const found = exponential(multiply(logarithm(a, longer), b, longer), longer);
  context.inexact = true;
  if (compare(found, ONE) === 0) return longOne(precision);
  // A power beyond the exponents of this script is beyond the context's limit as well.
  if (isInfinite(found) || isZero(found)) return fit(1n, isZero(found) ? -(10 ** 15) : 10 ** 15, context);
  return plus(found, context);
};

/** a^(p/q), exact where it can be: 10000^(2/4) is 100. */
/** @param {Decimal} a @param {Decimal} p @param {Decimal} q @param {Context} context */
const rootOfPower = (a, p, q, context) => {
  /** @type {Context} */
  const even = { ...context, rounding: "half_even" };
  const root = power(a, divide(p, q, even), even);
  // The last digits of a power may be wrong.
  const short = plus(root, { ...even, precision: context.precision - 10 });
  const exact = { ...context, inexact: false };
  const isRoot = compare(power(short, q, exact), power(a, p, exact)) === 0;
  return isRoot && !exact.inexact ? short : power(a, divide(p, q, context), context);
};

// The program's own functions, by its own steps: see tanh.py, normal.py and waves.py

/** (1 - e^-2x) / (1 + e^-2x). @param {Decimal} x @param {Context} context */
const hyperbolicTangent = (x, context) => {
  if (x.c !== 0n) context.inexact = true;
  const longer = { ...context, precision: context.precision + 10 + Math.max(0, -adjusted(x)) };
  const twice = multiply({ c: -2n, e: 0 }, plus(absolute(x), longer), longer);
  const part = exponential(twice, longer);
  const result = divide(subtract(ONE, part, longer), add(ONE, part, longer), longer);
  return plus(x.c < 0n ? negate(result) : result, context);
};

/** @param {Decimal} angle in radians @param {Context} context */
const sine = (angle, context) => wave(angle, 0, context);
/** @param {Decimal} angle in radians @param {Context} context */
const cosine = (angle, context) => wave(angle, 1, context);

/** @param {Decimal} angle @param {number} quarters @param {Context} context @returns {Decimal} */
const wave = (angle, quarters, context) => {
  if (angle.c === 0n) return whole(quarters);
  // The digits of π do not say which part of the wave an angle farther away is on.
  if (compare(absolute(angle), { c: 1n, e: 40 }) >= 0) throw new NoResult("overflow");
  context.inexact = true;
  const [longer, reduced] = [contextOf(context.precision + 10), contextOf(200)];
  const turns = roundHalfAway(divide(angle, divide(PI, TWO, longer), longer), 0);
  const turned = divide(multiply(turns, PI, reduced), TWO, reduced);
  const quarter = Number((turns.c + BigInt(quarters)) & 3n);
  const result = waveSeries(subtract(angle, turned, reduced), quarter % 2, longer);
  return plus(quarter >= 2 ? negate(result) : result, context);
};

/** x - x³/3! + x⁵/5! - …; if `first` is 1, 1 - x²/2! + …. @param {Decimal} x @param {number} first @param {Context} context */
const waveSeries = (x, first, context) => {
  const square = negate(multiply(x, x, context));
  const start = first ? ONE : x;
  let [term, others, n] = [start, ZERO, 1 - first];
  while (term.c && adjusted(term) >= adjusted(start) - context.precision) {
    n += 2;
    term = multiply(term, divide(square, whole(n * (n - 1)), context), context);
    others = add(others, term, context);
  }
  return add(start, others, context);
};

/** Φ, the share of a standard normal distribution below x. @param {Decimal} x @param {Context} context */
const normalShare = (x, context) => {
  if (x.c !== 0n) context.inexact = true;
  /** @type {Context} */
  const longer = { ...context, precision: context.precision + 10, rounding: "half_even" };
  if (compare(absolute(x), whole(16)) > 0) {
    const tail = normalTail(plus(absolute(x), longer), longer);
    return plus(x.c < 0n ? tail : subtract(ONE, tail, longer), context);
  }
  // The sum is nearly ½ where the share is small: its first digits cancel.
  longer.precision += Number(textOf(divide(multiply(x, x, longer), whole(4), longer)).split(".")[0]) + 1;
  return plus(add(HALF, normalMiddle(x, longer), longer), context);
};

/** @param {Decimal} x @param {Context} context */
const normalDensity = (x, context) => {
  const square = multiply(plus(negate(x), context), x, context);
  const width = squareRoot(multiply(TWO, PI, context), context);
  return divide(exponential(divide(square, TWO, context), context), width, context);
};

/** Φ(x) - ½ = φ(x) (x + x³/3 + x⁵/(3·5) + …). @param {Decimal} x @param {Context} context */
const normalMiddle = (x, context) => {
  const square = multiply(x, x, context);
  let [term, total] = [x, x];
  for (let n = 3; n === 3 || compare(add(total, term, context), total) !== 0; n += 2) {
    term = multiply(term, divide(square, whole(n), context), context);
    total = add(total, term, context);
  }
  return multiply(total, normalDensity(x, context), context);
};

/** 1 - Φ(x) = φ(x)/x (1 - 1/x² + 3/x⁴ - …), until the terms grow. @param {Decimal} x @param {Context} context */
const normalTail = (x, context) => {
  const square = multiply(x, x, context);
  let [term, total] = [ONE, ONE];
  for (let n = 1; compare(add(total, term, context), total) !== 0 && compare(whole(n), square) < 0; n += 2) {
    term = multiply(term, divide(whole(-n), square, context), context);
    total = add(total, term, context);
  }
  return divide(multiply(total, normalDensity(x, context), context), x, context);
};
