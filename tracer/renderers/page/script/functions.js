// @ts-check

// Roots, exponentials, logarithms, powers, waves, tanh and Φ of decimals, in every digit as Python
// and the program compute them.

const PI = decimal(
  "3.141592653589793238462643383279502884197169399375105820974944592307816406286" +
    "208998628034825342117067982148086513282306647093844609550582231725359408128",
);

/**
 * c·10^e, rounded half to even whatever the context.
 * @param {bigint} c @param {number} e @param {Context} context
 */
const halfEven = (c, e, context) => {
  /** @type {Context} */
  const even = { ...context, rounding: "half_even" };
  const result = fit(c, e, even);
  context.inexact = even.inexact;
  return result;
};

/** The whole part of the root of a whole number. @param {bigint} n */
const wholeRoot = (n) => {
  // Newton's method from above, which begins with the float's root of the first 100 bits
  const half = BigInt(Math.max(0, n.toString(16).length * 2 - 50));
  let root = (BigInt(Math.ceil(Math.sqrt(Number(n >> (2n * half))))) + 1n) << half;
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
};

/**
 * Rounded half to even, as Python does in any context; an exact root keeps half the exponent.
 * @param {Decimal} a @param {Context} context @returns {Decimal}
 */
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

// Exponentials and logarithms, correctly rounded half to even: they are computed in binary fixed
// point, with more and more bits until their error cannot change a digit.

/** a·2^bits, cut off. @param {Decimal} a @param {number} bits */
const inBinary = ({ c, e }, bits) =>
  e < 0 ? (c << BigInt(bits)) / tenTo(-e) : (c * tenTo(e)) << BigInt(bits);

/**
 * x / 2^bits, rounded half to even; undefined if an error of 64 in x could change a digit.
 * @param {bigint} x @param {number} bits @param {number} places @param {number} precision
 */
const sureDigits = (x, bits, places, precision) => {
  const context = contextOf(precision, { rounding: "half_even" });
  const [low, high] = [x - 64n, x + 64n].map((end) =>
    fit((end * tenTo(places)) >> BigInt(bits), -places, context),
  );
  return low.c === high.c && low.e === high.e ? low : undefined;
};

/** artanh(1/n)·2^bits. @param {bigint} n @param {number} bits */
const inverseHyperbolic = (n, bits) => {
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
    const [a, b, c] = [31n, 49n, 161n].map((n) => inverseHyperbolic(n, bits + 20));
    logarithmsOfTen.set(bits, (known = (46n * a + 34n * b + 20n * c) >> 20n));
  }
  return known;
};

/**
 * e^x for x and its result in units of 2^-bits, |x| < 3, wrong by a unit or two.
 * @param {bigint} x @param {number} bits
 */
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

/** 1 with all digits. @param {number} precision @returns {Decimal} */
const longOne = (precision) => ({ c: tenTo(precision - 1), e: 1 - precision });

/** @param {Decimal} a @param {Context} context @returns {Decimal} */
const exponential = (a, context) => {
  if (a.c === 0n) return ONE;
  if (isInfinite(a)) return a.c > 0n ? a : ZERO;
  const { precision } = context;
  context.inexact = true;
  const size = adjusted(a);
  if (size < -precision - 2) return longOne(precision);
  if (size > 15) return halfEven(1n, a.c > 0n ? 2 * FARTHEST : -2 * FARTHEST, context);
  for (let digits = precision + 10; ; digits += digits) {
    // a = n·ln 10 + rest, so e^a = 10^n·e^rest
    const bits = bitsOf(digits);
    const [x, ten] = [inBinary(a, bits + 64), logarithmOfTen(bits + 64)];
    const n = x < 0n ? x / ten - 1n : x / ten;
    const found = powerOfE((x - n * ten) >> 64n, bits);
    const sure = sureDigits(found, bits, digits, precision);
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
    const sure = sureDigits(total, bits, digits, precision);
    if (sure) return halfEven(sure.c, sure.e, context);
  }
};

// Powers: not correctly rounded, so they take the steps of Python's library

/**
 * a^b for a finite b.
 * @param {Decimal} a @param {Decimal} b @param {Context} context @returns {Decimal}
 */
const power = (a, b, context) => {
  if (isInfinite(b)) throw new NoResult("invalid");
  const isWhole = b.e >= 0 || b.c % tenTo(-b.e) === 0n;
  const times = isWhole ? sizeOf(inBinary(b, 0)) : 0n;
  const sign = a.c < 0n && times % 2n === 1n ? -1n : 1n;
  if (a.c === 0n && b.c === 0n) throw new NoResult("invalid");
  if (a.c < 0n && !isWhole) throw new NoResult("invalid");
  if (a.c === 0n || isInfinite(a)) {
    if (b.c === 0n) return ONE;
    return (a.c === 0n) === b.c < 0n ? infinity(sign) : ZERO;
  }
  if (b.c === 0n) return ONE;
  const { precision } = context;
  if (compare(absolute(a), ONE) === 0) {
    if (!isWhole) context.inexact = true;
    const ofFactors = b.c < 0n ? 0 : Number(times) * -a.e;
    const zeros = isWhole ? Math.min(ofFactors, precision - 1) : precision - 1;
    return { c: sign * tenTo(zeros), e: -zeros };
  }
  return isWhole ? wholePower(a, b, times, context) : realPower(a, b, context);
};

/**
 * By squaring; no formula has an exponent of many digits.
 * @param {Decimal} a @param {Decimal} b @param {bigint} times |b| @param {Context} context
 */
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
    rounding: "half_even",
    saturates: true,
    largest: FARTHEST,
  });
  const found = exponential(multiply(logarithm(a, longer), b, longer), longer);
  context.inexact = true;
  if (compare(found, ONE) === 0) return longOne(precision);
  // What is beyond the longer context's limit is beyond the other's as well.
  if (isInfinite(found)) return fit(1n, FARTHEST, context);
  return isZero(found) ? fit(1n, -FARTHEST, context) : plus(found, context);
};

/**
 * a^(p/q), exact where it can be: 10000^(2/4) is 100.
 * @param {Decimal} a @param {Decimal} p @param {Decimal} q @param {Context} context
 */
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

// Functions that jump, and the logarithm to base 2: see steps.py

/** Functions whose last digits may matter. */
const JUMPS = ["round", "floor", "E2M1"];
/** The positive numbers of four bits, and those halfway between neighbors. */
const E2M1 = ["0", "0.5", "1", "1.5", "2", "3", "4", "6"].map((each) => decimal(each));
const BETWEEN_E2M1 = ["0.25", "0.75", "1.25", "1.75", "2.5", "3.5", "5"].map((each) => decimal(each));
/** Fewer digits than computed numbers have: 0.6 / (2 / 15) is 4.5, which is a tie. */
const SETTLED = contextOf(40, { rounding: "half_even" });
const SETTLED_FLOAT = contextOf(14, { rounding: "half_even" });
const LEAST_POWER = decimal("1e-50");

/** The largest whole number that is not larger. @param {Decimal} x */
const floorOf = (x) => {
  if (x.e >= 0) return whole(Number(x.c * tenTo(x.e)));
  const unit = tenTo(-x.e);
  const cut = x.c / unit;
  return { c: x.c < 0n && cut * unit !== x.c ? cut - 1n : cut, e: 0 };
};

/** The nearest whole number, of two equally near ones the even one. @param {Decimal} x */
const roundHalfEven = (x) => {
  const below = floorOf(x);
  const twice = multiply(TWO, subtract(x, below, SUMS), SUMS);
  const side = compare(twice, ONE);
  return { c: below.c + (side > 0 || (side === 0 && below.c % 2n !== 0n) ? 1n : 0n), e: 0 };
};

/** The nearest number of four bits; what is too large becomes ±6. @param {Decimal} x */
const nearestE2M1 = (x) => {
  const size = absolute(x);
  const near = BETWEEN_E2M1.filter((middle, i) => {
    const side = compare(size, middle);
    return side > 0 || (side === 0 && i % 2 === 1);
  }).length;
  return x.c < 0n && near ? negate(E2M1[near]) : E2M1[near];
};

/** Exact for powers of two, and never on their other side. @param {Decimal} x @param {Context} context */
const logarithmToTwo = (x, context) => {
  const exact = contextOf(400);
  const powerOf = (/** @type {number} */ n) => power(TWO, whole(n), exact);
  let n = Math.floor(adjusted(x) * 3.3219280948873623);
  while (compare(powerOf(n), x) > 0) n -= 1;
  while (compare(powerOf(n + 1), x) <= 0) n += 1;
  if (compare(powerOf(n), x) === 0) return whole(n);
  context.inexact = true;
  const longer = contextOf(60, { rounding: "05up" });
  const share = divide(x, powerOf(n), longer);
  const rest = divide(logarithm(share, longer), logarithm(TWO, longer), longer);
  const most = subtract(ONE, LEAST_POWER, longer);
  return add(whole(n), compare(rest, most) < 0 ? rest : most, longer);
};

// The program's own functions, by its own steps: see tanh.py, normal.py and waves.py

/** (1 - e^-2x) / (1 + e^-2x). @param {Decimal} x @param {Context} context */
const hyperbolicTangent = (x, context) => {
  if (x.c) context.inexact = true;
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
  if (compare(absolute(angle), { c: 1n, e: 60 }) >= 0) throw new NoResult("overflow");
  context.inexact = true;
  const [longer, reduced] = [contextOf(context.precision + 10), contextOf(220)];
  const turns = roundHalfAway(divide(angle, divide(PI, TWO, longer), longer), 0);
  const turned = divide(multiply(turns, PI, reduced), TWO, reduced);
  const quarter = Number((turns.c + BigInt(quarters)) & 3n);
  const result = waveSeries(subtract(angle, turned, reduced), quarter % 2, longer);
  return plus(quarter >= 2 ? negate(result) : result, context);
};

/**
 * x - x³/3! + x⁵/5! - …; if `first` is 1, 1 - x²/2! + ….
 * @param {Decimal} x @param {number} first @param {Context} context
 */
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
