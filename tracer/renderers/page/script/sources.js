// @ts-check

// The numbers of the page on its tape: their names, and the entries that are written when asked for.

/** The values of a tape as sources: first those of the page, then the others. @param {Tape} tape @param {number[]} shown @returns {Source[]} */
const sourcesOnTape = ({ values }, shown) => {
  const order = [...shown, ...[...values.keys()].filter((i) => !shown.includes(i))];
  order.forEach((index, source) => sourceOfValue.set(index, source));
  return order.map((index) => {
    const { symbol, address, labels, operation } = values[index];
    return { index, symbol: written(symbol), address, labels, given: operation.kind === "given", entries: {} };
  });
};

/** The source of each value of the tape. @type {Map<number, number>} */
const sourceOfValue = new Map();

/** The name of an entry of a value. @param {TapeValue[]} values @param {number} index @param {number} at */
const nameOnTape = (values, index, at) => `${sourceOfValue.get(index)}:${indexOf(at, values[index].shape).join(",")}`;

/** The place of an entry among those of its value. @param {number[]} shape @param {string} place */
const flatPlace = (shape, place) =>
  place.split(",").filter(Boolean).reduce((flat, i, axis) => flat * shape[axis] + Number(i), 0);

/** A number with its line, or the number that it is a copy of. @param {Tape} tape @param {Source} source @param {string} place @returns {Entry} */
const entryOnTape = (tape, { index = 0 }, place) => {
  const value = tape.values[index];
  const at = flatPlace(value.shape, place);
  const number = numberText(tape.pencil.number(value, at));
  const line = lineOf(tape, index, at);
  if (line) return { number, ...line };
  const copied = copiedFrom(tape, index, at);
  return copied ? { number, is: nameOnTape(tape.values, ...copied) } : { number };
};
