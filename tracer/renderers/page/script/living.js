// @ts-check

// A page whose numbers can be changed: the script computes what follows, and the page shows it.

/** @typedef {{place: number, before: Decimal, after: Decimal}} Change */

/** The numbers of the file, by their places. @type {Map<number, Decimal>} */
const ofFile = new Map();
/** The changes that can be undone, and those that can be done again. @type {Change[]} */
const done = [];
/** @type {Change[]} */
const undone = [];

const TYPED_NUMBER = /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,3})?$/i;

/** The place in the scenario of a number of the page; undefined if it cannot be changed. @param {string} of */
const placeOf = (of) => {
  const value = tapeValueOf(of);
  const place = value?.places?.[flatOf(of)] ?? -1;
  return tape?.data.spans[place] ? place : undefined;
};

/** The number at a place. @param {number} place @returns {Decimal} */
const numberAt = (place) => {
  const value = /** @type {Tape} */ (tape).values.find(({ places }) => places?.includes(place));
  return value?.numbers[value.places?.indexOf(place) ?? 0];
};

/** Compute with another number at a place, and show it; if there is no result, nothing changes. @param {number} place @param {Decimal} number */
const put = (place, number) => {
  if (!tape) return;
  const before = numberAt(place);
  if (!ofFile.has(place)) ofFile.set(place, before);
  const texts = shownNumbers();
  const changed = tape.set(place, number);
  try {
    showChanges(tape.evaluate(changed), texts);
  } catch (error) {
    tape.evaluate(tape.set(place, before));
    throw error;
  }
};

/** Change a number; a change that continues the one before it is undone together with it. @param {number} place @param {string} written @param {boolean} continues */
const change = (place, written, continues) => {
  const hides = /^-(inf|\.inf|∞)$/.test(written);
  if (!hides && !TYPED_NUMBER.test(written)) throw new NoResult(`expected a number, got ${written}`);
  const [before, after] = [numberAt(place), decimal(hides ? "-Infinity" : written)];
  put(place, after);
  const last = done.at(-1);
  if (continues && last?.place === place) last.after = after;
  else done.push({ place, before, after });
  undone.length = 0;
};

/** @param {Change[]} from @param {Change[]} to @param {"before" | "after"} which */
const step = (from, to, which) => {
  const last = from.pop();
  if (!last) return;
  to.push(last);
  put(last.place, last[which]);
};
const undo = () => step(done, undone, "before");
const redo = () => step(undone, done, "after");

/** The places whose number is not that of the file. */
const differing = () => [...ofFile].filter(([place, number]) => textOf(numberAt(place)) !== textOf(number)).map(([place]) => place);

/** The text of the scenario with its changed numbers. */
const scenario = () => {
  if (!tape) return "";
  const { text: whole, spans } = tape.data;
  const places = differing().sort((a, b) => spans[b][0] - spans[a][0]);
  // Positions count characters, also those that take two units in a script.
  const characters = [...whole];
  for (const place of places) {
    const [start, end] = spans[place];
    characters.splice(start, end - start, typedText(numberAt(place)));
  }
  return characters.join("");
};

/** @param {Decimal} number */
const typedText = (number) => (isFinite_(number) ? textOf(number) : "-inf");

// --- what the page shows -------------------------------------------------------------------------

/** The numbers that stand in the text. */
const shownNumbers = () => new Map([...places.keys()].map((of) => [of, entryOf(of).number]));

/** Write changed numbers wherever they stand, and what is drawn of them. @param {Set<number>} changed @param {Map<string, string>} before */
const showChanges = (changed, before) => {
  forgetEntries(changed);
  earlier.clear();
  unmarkChanges();
  for (const [of, list] of places) {
    if (!changed.has(tapeIndexOf(of))) continue;
    const { number } = entryOf(of);
    const old = before.get(of);
    if (old !== undefined && old !== number) earlier.set(of, old);
    for (const place of list) rewrite(place, number);
  }
  all("li.drawn", text).forEach((line) => redraw(line, changed));
  for (const cell of all(".diagram [data-number]", text)) if (changed.has(tapeIndexOf(cell.dataset.number || ""))) shade(cell);
  for (const [of, old] of earlier) for (const place of places.get(of) || []) markPlace(place, old, entryOf(of).number);
  document.body.classList.toggle("differs", differing().length > 0);
  document.dispatchEvent(new CustomEvent("changed"));
};
