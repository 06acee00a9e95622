// @ts-check

// The results of operations that have a formula for each entry.

/** The exponent of the smallest scale of MXFP4, and the scale. */
const SMALLEST_EXPONENT = whole(-127);
const SMALLEST_SCALE = power(whole(2), SMALLEST_EXPONENT, contextOf(200));
/** Between the smallest scale and the next one, also where an author rounds them to one digit. */
const DIVIDING_SCALE = multiply(decimal("1.5"), SMALLEST_SCALE, contextOf(200));
/** A group of smaller numbers has the smallest scale. */
const LEAST_SCALED = multiply(whole(4), SMALLEST_SCALE, contextOf(200));

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
    case "quantize":
    case "zero_point": {
      // In a group of zeros, nothing is divided.
      const scales = x[1].map((each) => (isZero(each) ? ONE : each));
      return every.map((at) => compute(at, [x[0], scales, ...x.slice(2)]));
    }
    case "shared_exponent":
      return every.map((at) => compute(at, [x[0].map((each) => larger(each, LEAST_SCALED))]));
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
      if (base[0] === "number") return power(decimal(base[1]), at(exponent), context);
      if (exponent[0] === "number") return Array(Number(exponent[1])).fill(at(base)).reduce((a, b) => multiply(a, b, context));
      return power(at(base), divide(at(exponent[1]), at(exponent[2]), context), context);
    }
    case "root":
      return squareRoot(at(parts[0]), context);
    case "exponential":
      return exponential(at(parts[0]), context);
    case "negative":
      return negate(at(parts[0]));
    case "call": {
      const of = parts.slice(1).map(at);
      return called(parts[0], JUMPS.includes(parts[0]) ? of.map((x) => tape.settled(x)) : of, context);
    }
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
      return of.reduce(smaller);
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
    case "abs":
      return absolute(of[0]);
    case "log2":
      return logarithmToTwo(of[0], context);
    case "round":
      return roundHalfEven(of[0]);
    case "floor":
      return floorOf(of[0]);
    case "E2M1":
      return nearestE2M1(of[0]);
    default:
      throw new Error(`no function ${name}`);
  }
};
