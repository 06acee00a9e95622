// Edits of a tape, one after the other: each is made, what is printed is written, and it is undone.
let input = "";
process.stdin.on("data", (part) => (input += part));
process.stdin.on("end", () => {
  const { tape: data, edits } = JSON.parse(input);
  const made = ({ place, setting, to }) =>
    setting === undefined
      ? tape.set(place, decimal(to))
      : applySetting(tape, data.settings[setting], to, data.activations);
  const tape = new Tape(data);
  const answers = [];
  const shown = () =>
    Object.fromEntries(
      tape.values.map((value) => [
        value.address,
        value.words ? value.numbers : value.numbers.map((_, at) => textOf(tape.pencil.number(value, at))),
      ]),
    );
  for (const edit of edits) {
    const before = edit && (edit.setting === undefined ? textOf(tape.numberAt(edit.place)) : data.settings[edit.setting].value);
    try {
      if (edit) tape.evaluate(made(edit));
      answers.push({ printed: shown(), labels: tape.values.map(({ labels }) => [...labels]) });
    } catch (error) {
      if (!(error instanceof NoResult)) throw error;
      answers.push({ refused: error.message, others: error instanceof OtherSteps });
    }
    if (edit) {
      made({ ...edit, to: before });
      tape.evaluate();
    }
  }
  process.stdout.write(JSON.stringify(answers));
});
