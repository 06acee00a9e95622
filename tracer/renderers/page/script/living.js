// @ts-check

// The buttons of a page whose numbers can be changed, and what a program can do with it.

/** @param {string} id @param {() => void} press */
const onPress = (id, press) => document.getElementById(id)?.addEventListener("click", press);

/** Say how many numbers have changed, and which buttons do something. */
const nameChanges = () => {
  if (data.live) return;
  the("undo", HTMLButtonElement).disabled = !done.length;
  the("redo", HTMLButtonElement).disabled = !undone.length;
  the("reset", HTMLButtonElement).disabled = !differing().length;
  the("changes", HTMLElement).textContent = changesText();
  speak(changesText());
};

const changesText = () => {
  if (!earlier.size) return "";
  return earlier.size === 1 ? "1 number changed" : `${earlier.size} numbers changed`;
};

/** Save the scenario with its changed numbers. */
const download = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([scenario()], { type: "application/yaml" }));
  link.download = `${document.title}.yaml`;
  link.click();
  URL.revokeObjectURL(link.href);
};

readText();
document.addEventListener("replaced", () => {
  // The program has read the changed text: its numbers are those of the page.
  ofFile.clear();
  document.body.classList.remove("differs");
  readText();
});
if (tape && !data.live) {
  onPress("undo", undo);
  onPress("redo", redo);
  onPress("reset", reset);
  onPress("download", download);
  document.getElementById("settings")?.addEventListener("change", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) return;
    tryChange(field, () => chooseSetting(field.name, field.value.trim()));
  });
  document.addEventListener("changed", () => {
    for (const field of all("#settings [name]")) {
      const setting = data.tape?.settings.find(({ name }) => name === field.getAttribute("name"));
      if (setting) /** @type {HTMLInputElement} */ (field).value = present(setting);
    }
  });
  document.addEventListener("keydown", (event) => {
    const own = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (own || staged || !(event.ctrlKey || event.metaKey)) return;
    const again = event.key === "y" || (event.key === "Z" && event.shiftKey);
    if (event.key !== "z" && !again) return;
    event.preventDefault();
    again ? redo() : undo();
  });
}

/** A value by its address, and an entry by row and column, counted from 1 or by label. @param {string} address @param {string | number} [row] @param {string | number} [column] */
const located = (address, row, column) => {
  const value = tapeHere().at(address);
  const labels = [row, column].filter((each) => each !== undefined);
  const at = labels.reduce((/** @type {number} */ flat, label, axis) => {
    const place = typeof label === "number" ? label - 1 : value.labels[axis].indexOf(/** @type {string} */ (label));
    if (!(place >= 0 && place < value.shape[axis])) throw new Error(`no ${label} in ${address}`);
    return flat * value.shape[axis] + place;
  }, 0);
  return { value, at, index: tapeHere().values.indexOf(value) };
};

/** What a program can do with the page. */
const decoderTrace = {
  /** @param {string} address @param {string | number} row @param {string | number} column @param {string | number} number */
  edit: (address, row, column, number) => {
    const { value, at } = located(address, row, column);
    const place = value.places?.[at] ?? -1;
    if (!data.tape?.spans[place]) throw new Error(`${address} is computed, or not typed in the file`);
    change(place, String(number), false);
  },
  /** @param {string} name @param {string | number} value */
  set: (name, value) => chooseSetting(name, String(value)),
  undo,
  redo,
  /** @param {string} address */
  printed: (address) => {
    const { value } = located(address);
    const numbers = value.numbers.map((each, at) => (value.words ? each : numberText(tapeHere().pencil.number(value, at))));
    return rowsOf(numbers, value.shape.length > 1 ? value.shape[0] : 1);
  },
  /** @param {string} address @param {string | number} [row] @param {string | number} [column] */
  line: (address, row, column) => {
    const { index, at } = located(address, row, column);
    return lineText(tapeHere(), index, at);
  },
  scenario,
};
if (tape) Object.assign(window, { decoderTrace });
