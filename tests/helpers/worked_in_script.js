// The line of each entry of evaluated tapes: a tape a line, and an answer a line.
import { createInterface } from "node:readline";

const nameOnTape = (values, of, at) => `${of}:${indexOf(at, values[of].shape).join(",")}`;

const entryOf = (tape, of, at) => {
  const number = numberText(tape.pencil.number(tape.values[of], at));
  const line = lineOf(tape, of, at);
  if (line) return { number, ...line };
  const copied = copiedFrom(tape, of, at);
  return copied ? { number, is: nameOnTape(tape.values, ...copied) } : { number };
};

for await (const asked of createInterface({ input: process.stdin })) {
  const data = JSON.parse(asked);
  const values = data.values.map((value) => ({ ...value, numbers: value.words ? [] : value.numbers.map(decimal) }));
  const tape = { data, values, pencil: new Pencil(data) };
  const entries = values.map(({ numbers }, of) =>
    numbers.map((_, at) => {
      try {
        return entryOf(tape, of, at);
      } catch (error) {
        return error.stack;
      }
    }),
  );
  console.log(JSON.stringify(entries));
}
