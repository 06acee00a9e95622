// @ts-check

// Worked lines: the sides of an entry, with as few digits as keep them true, and the entries in them.

/** With this many extra digits, a line has all digits of the calculation. */
const MOST_GUARD_DIGITS = 60;
/** The operands of a quotient that get extra digits, in the order of the attempts; none for all. */
const OPERANDS_APART = [[0], [1], []];
/** Operations that move numbers, choose words, or are given. */
const WITHOUT_LINES = ["given", "gather", "argmax", "pick"];

/** @typedef {{sides: Expression[], relations: string[]}} Chain one relation fewer than sides */

/** Whether an entry has a worked line. @param {Tape} tape @param {number} of @param {number} at */
const isWorked = (tape, of, at) => {
  const { operation, numbers, words } = tape.values[of];
  if (words || WITHOUT_LINES.includes(operation.kind)) return false;
  if (hides(tape, of)) return isHidden(numbers[at]);
  if (operation.columns) return operation.columns[at] !== null;
  return !isFullyMasked(tape, of, at);
};

/** Whether a value is masked scores, whose mask has no digits of its own. @param {Tape} tape @param {number} of */
const hides = ({ values }, of) => {
  const { operation, inputs } = values[of];
  return operation.name === "mask" && values[inputs[1]].numbers.every((each) => isZero(each) || isHidden(each));
};

/** Whether an entry belongs to a fully masked row of a softmax, which has no lines. @param {Tape} tape @param {number} of @param {number} at */
const isFullyMasked = (tape, of, at) => {
  const { operation, shape, inputs } = tape.values[of];
  const [row] = indexOf(at, shape);
  const [first, second] = inputs.map((each) => tape.values[each]);
  switch (operation.kind === "entry" ? operation.name : operation.kind) {
    case "quantize":
    case "zero_point":
    case "dequantize":
      return compare(second.numbers[at], DIVIDING_SCALE) <= 0; // a group of zeros
    case "quantization_error":
      return isZero(first.numbers[at]) && isZero(second.numbers[at]);
    case "shared_exponent":
      return compare(first.numbers[at], LEAST_SCALED) < 0;
    case "two_to_the":
      return compare(first.numbers[at], SMALLEST_EXPONENT) <= 0;
    case "share":
      return isZero(second.numbers[row]); // and nothing is divided
    case "below_maximum":
      if (first.shape.length === 1) return isHidden(second.numbers[row]);
    // falls through
    case "max":
    case "subtract":
      return rowsOf(first.numbers, first.shape[0])[row].every(isHidden);
    default:
      return false;
  }
};

/**
 * The line of an entry, with the fewest guard digits with which it is true.
 * @param {Tape} tape @param {number} of @param {number} at @returns {Chain}
 */
const chainOf = (tape, of, at) => {
  const { pencil, values } = tape;
  const entry = { of, at };
  const result = lineNumber(pencil.number(values[of], at), entry);
  const decimals = placesOf(values[of].digits || pencil.usual, ZERO);
  const places = placesIn(result[1]);
  for (let guard = 0; guard < MOST_GUARD_DIGITS; guard += 1) {
    for (const only of guard && isQuotient(values, of) ? OPERANDS_APART : [[]]) {
      const sides = withResult(new LineSides(tape, entry, guard, places, only).all(), result);
      if (isTrueLine(sides, decimals)) {
        return { sides, relations: sides.slice(1).map((side, i) => relationOf(sides[i], side)) };
      }
    }
  }
  throw new Error(`${values[of].address}[${indexOf(at, values[of].shape)}] contradicts its line`);
};

/** Whether extra digits of one operand may be enough. @param {TapeValue[]} values @param {number} of */
const isQuotient = (values, of) => {
  const { name } = values[of].operation;
  return name === "share" || (name === "divide" && !dividesDotProducts(values, of));
};

/**
 * The sides with the result, and before it what the last of them comes to, if that is short. Each
 * side stands once. Where a number comes twice, it is written as the result is printed; but one that
 * is put in keeps its digits.
 * @param {Expression[]} written @param {Expression} result
 */
const withResult = (written, result) => {
  const { number, exact } = valueOfExpression(written[written.length - 1]);
  /** @type {Expression[]} */
  const before = [];
  if (exact && !isInfinite(number)) {
    const short = trimmed(number);
    const more = placesIn(short) - placesIn(result[1]);
    if (more > 0 && more <= EXACT_DIGITS_MORE) before.push(lineNumber(short));
  }
  /** @type {Expression[]} */
  const kept = [];
  for (const side of [...written, ...before, result]) {
    const last = kept[kept.length - 1];
    const isNumber = last?.[0] === "number" && side[0] === "number";
    if (isNumber && compare(side[1], last[1]) === 0) {
      const [, shown, entry] = last;
      if (!entry || (side[2] && placesIn(side[1]) === placesIn(shown))) kept[kept.length - 1] = side;
      else if (side[2]) kept.push(side);
    } else if (!last || !isEqual(last, side)) kept.push(side);
  }
  return kept;
};

/**
 * Whether each number that replaces a side or a dividend is that number, rounded. A 0 stands for
 * numbers that are 0 with the usual decimals.
 * @param {Expression[]} sides @param {number} decimals
 */
const isTrueLine = (sides, decimals) =>
  sides.slice(1).every((side, i) => {
    const last = sides[i];
    const isDividend = last[0] === "quotient" && side[0] === "quotient" && side[1][0] === "number";
    const [left, right] = isDividend ? [last[1], side[1]] : [last, side];
    if (right[0] !== "number") {
      return !jumps(side) || compare(valueOfExpression(last).number, valueOfExpression(side).number) === 0;
    }
    return holds(left, right, isZero(right[1]) ? decimals : placesIn(right[1]));
  });

/**
 * The line of an entry; undefined if it has none, as a number that is given or copied.
 * @param {Tape} tape @param {number} of @param {number} at
 */
const lineOf = (tape, of, at) => {
  const chain = isWorked(tape, of, at) ? chainOf(tape, of, at) : undefined;
  return chain?.relations.length ? chain : undefined; // the sum of a single number is that number
};

/** The line of an entry as text; empty if it has none. @param {Tape} tape @param {number} of @param {number} at */
const lineText = (tape, of, at) => {
  const { work = [], sign, result } = entryToPointAt(tape, of, at);
  const words = work.map((piece) => (typeof piece === "string" ? piece : piece[0]));
  return work.length ? `${words.join("")} ${sign} ${result}` : "";
};

/**
 * A number with its line in pieces to point at, or with the name of the entry that it copies.
 * @param {Tape} tape @param {number} of @param {number} at @returns {Entry}
 */
const entryToPointAt = (tape, of, at) => {
  const number = numberText(tape.pencil.number(tape.values[of], at));
  const line = lineOf(tape, of, at);
  if (!line) {
    const copied = copiedEntry(tape, { of, at });
    return copied ? { number, is: entryName(tape, copied) } : { number };
  }
  const { sides, relations } = line;
  const before = sides.slice(0, -1).map((side, i) => (i ? `${relations[i - 1]} ` : "") + written(side));
  const work = piecesOfMarked(before.join(" "), (entry) => entryName(tape, entry));
  return { number, work, sign: relations[relations.length - 1], result: numberText(sides[sides.length - 1][1]) };
};

/** The name of an entry: `12:3,0`. @param {Tape} tape @param {TapeEntry} entry */
const entryName = ({ values }, { of, at }) => `${of}:${indexOf(at, values[of].shape).join(",")}`;

/** The entry that a number without a line copies. @param {Tape} tape @param {TapeEntry} entry */
const copiedEntry = (tape, entry) => {
  const isSum = isWorked(tape, entry.of, entry.at); // of a single number, which it shows
  const before = isSum ? new LineSides(tape, entry, 0, 0).all()[0][2] : entryBefore(tape, entry);
  return before && entryFollowed(tape, before);
};

/** The entry that an entry copies, as [O¹ O²] copies O¹. @param {Tape} tape @param {TapeEntry} entry @returns {TapeEntry | undefined} */
const entryBefore = (tape, { of, at }) => {
  const { operation, inputs, shape, numbers } = tape.values[of];
  const [row] = indexOf(at, shape);
  if (hides(tape, of)) return isHidden(numbers[at]) ? undefined : { of: inputs[0], at };
  if (operation.kind === "gather") {
    for (const [operand, taken, to] of operation.moves) {
      const k = to ? to.indexOf(at) : at;
      if (k >= 0) return { of: inputs[operand], at: taken ? taken[k % taken.length] : k }; // one may go to many places
    }
  }
  if (operation.kind === "max" || operation.kind === "running_max") {
    if (isHidden(numbers[at]) || isFullyMasked(tape, of, at)) return undefined;
    const before = inputs.slice(1).find((each) => compare(tape.values[each].numbers[at], numbers[at]) === 0);
    if (before !== undefined) return { of: before, at };
    const rows = rowsOf(tape.values[inputs[0]].numbers, shape[0]);
    return { of: inputs[0], at: row * rows[row].length + largestAt(rows[row]) };
  }
  return undefined;
};

/** The entry that an entry copies with the same digits, or itself. @param {Tape} tape @param {TapeEntry} entry @returns {TapeEntry} */
const entryFollowed = (tape, entry) => {
  const before = entryBefore(tape, entry);
  const printed = (/** @type {TapeEntry} */ { of, at }) => numberText(tape.pencil.number(tape.values[of], at));
  const alike = before && (!tape.pencil.rounds || printed(before) === printed(entry));
  return alike ? entryFollowed(tape, before) : entry;
};
