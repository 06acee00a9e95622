// What is printed in some states of a tape, or why nothing is: a tape a line, and an answer a line.
import { createInterface } from "node:readline";

/** Makes the edits one after the other, as a reader does, and undoes them after the answer. */
const inState = (tape, edits, lines, set, present) => {
  const made = [];
  try {
    for (const edit of edits) {
      made.unshift({ ...edit, to: present(edit) });
      tape.evaluate(set(edit));
    }
    const printed = tape.values.map((value) =>
      value.words ? value.numbers : value.numbers.map((_, at) => numberText(tape.pencil.number(value, at))),
    );
    const labels = tape.values.map((value) => [...value.labels]);
    return { printed, labels, entries: lines.map(([of, at]) => entryToPointAt(tape, of, at)) };
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    return { refused: error.message, others: error instanceof OtherSteps, edits: made.length };
  } finally {
    for (const edit of made) tape.evaluate(set(edit));
  }
};

const typedText = (number) => (isInfinite(number) ? "-inf" : textOf(number));

for await (const asked of createInterface({ input: process.stdin })) {
  const { tape: data, states } = JSON.parse(asked);
  const tape = new Tape(data);
  const isMask = (place) => tape.values.some(({ address, places }) => address.endsWith("mask") && places?.includes(place));
  const set = ({ place, setting, to }) =>
    setting === undefined
      ? tape.set(place, to === "-inf" && isMask(place) ? HIDDEN : typedNumber(to))
      : applySetting(tape, data.settings[setting], to, data.activations);
  const present = ({ place, setting }) => (setting === undefined ? typedText(tape.numberAt(place)) : data.settings[setting].value);
  console.log(JSON.stringify(states.map(({ edits, lines }) => inState(tape, edits, lines, set, present))));
}
