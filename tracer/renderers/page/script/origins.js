// @ts-check

// The entries that each number comes from: those in its line, or the one that it copies.

/** The name of an entry: `12:3,0`. @param {Tape} tape @param {TapeEntry} entry */
const entryName = ({ values }, { of, at }) => `${of}:${indexOf(at, values[of].shape).join(",")}`;

/** The entries whose numbers are in an expression, from left to right. @param {Expression} e @returns {TapeEntry[]} */
const entriesIn = (e) => {
  if (e[0] === "rest") return e[3]();
  if (e[0] === "number") return e[2] ? [e[2]] : [];
  return partsOf(e).flatMap(entriesIn);
};

/** The entry that an entry copies, as [O¹ O²] copies O¹. @param {Tape} tape @param {TapeEntry} entry @returns {TapeEntry | undefined} */
const entryBefore = (tape, { of, at }) => {
  const { operation, inputs, shape, numbers } = tape.values[of];
  const [row] = indexOf(at, shape);
  if (operation.name === "mask") return isHidden(numbers[at]) ? undefined : { of: inputs[0], at };
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

/**
 * A number with its line in pieces to point at, or with the name of the entry that it copies.
 * @param {Tape} tape @param {number} of @param {number} at @returns {Entry}
 */
const entryToPointAt = (tape, of, at) => {
  const number = numberText(tape.pencil.number(tape.values[of], at));
  const worked = isWorked(tape, of, at);
  const { sides, relations } = worked ? chainOf(tape, of, at) : { sides: [], relations: [] };
  if (!relations.length) {
    // The sum of a single number is that number.
    const [before] = worked ? entriesIn(firstSideOf(tape, of, at)) : [entryBefore(tape, { of, at })];
    return before ? { number, is: entryName(tape, entryFollowed(tape, before)) } : { number };
  }
  const marking = new Marking((entry) => entryName(tape, entry));
  const written = sides.slice(0, -1).map((side, i) => (i ? `${relations[i - 1]} ` : "") + marking.write(side));
  const result = new Notation().write(sides[sides.length - 1]);
  return { number, work: piecesOfMarked(written.join(" ")), sign: relations[relations.length - 1], result };
};
