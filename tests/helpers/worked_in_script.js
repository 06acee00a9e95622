// The line of each entry of evaluated tapes: a tape a line, and an answer a line.
import { createInterface } from "node:readline";

for await (const asked of createInterface({ input: process.stdin })) {
  const data = JSON.parse(asked);
  const values = data.values.map((value) => ({ ...value, numbers: value.words ? [] : value.numbers.map(decimal) }));
  const tape = { data, values, pencil: new Pencil(data) };
  const entries = values.map(({ numbers }, of) =>
    numbers.map((_, at) => {
      try {
        return entryToPointAt(tape, of, at);
      } catch (error) {
        return error.stack;
      }
    }),
  );
  console.log(JSON.stringify(entries));
}
