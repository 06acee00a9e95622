// @ts-check

// Changes of numbers and settings: each is computed on the tape, and can be undone.

/**
 * What some numbers, by their places in the scenario, and some settings are.
 * @typedef {Map<number | Setting, string>} State
 * @typedef {{before: State, after: State}} Change
 */

/** The numbers and settings of the file that were changed. @type {State} */
const ofFile = new Map();
/** The changes that can be undone, and those that can be made again. @type {Change[]} */
const done = [];
/** @type {Change[]} */
const undone = [];
/** The settings that are not those of the file. @type {Map<Setting, string>} */
const chosen = new Map();

const problemText = the("problem", HTMLParagraphElement);

const TYPED_INFINITY = /^-(\.?inf|∞)$/i;

/** The tape, which a page with changing numbers has. */
const tapeHere = () => {
  if (!tape) throw new Error("no tape");
  return tape;
};

/** The place in the scenario of a number of the page; undefined if it cannot be changed. @param {string} of */
const placeOf = (of) => {
  const value = valueOnTape(of);
  const place = value?.places?.[flatPlace(value.shape, of.split(":")[1])] ?? -1;
  return data.tape?.spans[place] ? place : undefined;
};

/** A number as it is typed. @param {Decimal} number */
const typedText = (number) => (isInfinite(number) ? "-inf" : textOf(number));

/** What a number or a setting is now. @param {number | Setting} of */
const present = (of) => (typeof of === "number" ? typedText(tapeHere().numberAt(of)) : (chosen.get(of) ?? of.value));

/** Set a number or a setting on the tape; return what changes with it at once. @param {number | Setting} of @param {string} to */
const setOnTape = (of, to) => {
  if (typeof of === "number") return tapeHere().set(of, to === "-inf" ? HIDDEN : decimal(to));
  const changed = applySetting(tapeHere(), of, to, data.tape?.activations || {});
  chosen.set(of, to);
  return changed;
};

/** Set numbers and settings on the tape, and compute what follows; return what has changed. @param {State} to */
const evaluateAt = (to) =>
  tapeHere().evaluate(new Set([...to].flatMap(([of, each]) => [...setOnTape(of, each)])));

/** What the numbers and settings of a state are now. @param {State} of @returns {State} */
const presentOf = (of) => new Map([...of.keys()].map((each) => [each, present(each)]));

/** Show what follows from a state; where nothing does, the page stays as it is. @param {State} to */
const put = (to) => {
  const before = presentOf(to);
  for (const [of, each] of before) if (!ofFile.has(of)) ofFile.set(of, each);
  const shown = new Map([...places.keys()].map((name) => [name, printedAt(name)]));
  try {
    showChanges(evaluateAt(to), shown);
  } catch (error) {
    evaluateAt(before);
    throw error;
  }
};

/** Make a change; one that continues the change before it is undone together with it. @param {State} to @param {boolean} continues */
const make = (to, continues) => {
  const before = presentOf(to);
  put(to);
  const last = done.at(-1);
  const isSame = last?.after.size === to.size && [...to.keys()].every((of) => last.after.has(of));
  if (continues && last && isSame) last.after = to;
  else done.push({ before, after: to });
  undone.length = 0;
  nameChanges();
};

/** Whether a number of a mask, which alone can be -∞, is at a place. @param {number} place */
const isOfMask = (place) => {
  const { values } = tapeHere();
  return values.some(({ operation, inputs }) => operation.name === "mask" && values[inputs[1]].places?.includes(place));
};

/** Change a number. @param {number} place @param {string} typed @param {boolean} continues */
const change = (place, typed, continues) => {
  const hides = TYPED_INFINITY.test(typed) && isOfMask(place);
  make(new Map([[place, hides ? "-inf" : textOf(typedNumber(typed))]]), continues);
};

/** Change a setting by its name. @param {string} name @param {string} to */
const chooseSetting = (name, to) => {
  const setting = data.tape?.settings.find((each) => each.name === name);
  if (!setting) throw new NoResult(`no setting ${name}`);
  make(new Map([[setting, to]]), false);
};

/** Make a change in a field, or say why it has no result; return whether it has. @param {HTMLElement} field @param {() => void} makes */
const tryChange = (field, makes) => {
  let problem = "";
  try {
    makes();
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    problem = `No result: ${error.message}.`;
  }
  field.setAttribute("aria-invalid", String(!!problem));
  problemText.textContent = problem;
  return !problem;
};

/** @param {Change[]} from @param {Change[]} to @param {"before" | "after"} which */
const stepThrough = (from, to, which) => {
  const last = from.pop();
  if (!last) return;
  to.push(last);
  put(last[which]);
  nameChanges();
};
const undo = () => stepThrough(done, undone, "before");
const redo = () => stepThrough(undone, done, "after");

/** Go back to the file, in one change. */
const reset = () => make(new Map(differing().map((of) => [of, ofFile.get(of) || ""])), false);

/** What is not as in the file. */
const differing = () => [...ofFile].filter(([of, before]) => present(of) !== before).map(([of]) => of);

/** The text of the scenario with its changes. */
const scenario = () => {
  const { text: whole, spans } = /** @type {TapeOnPage} */ (data.tape);
  /** @type {TextChange[]} */
  const changes = differing().flatMap((of) => {
    if (typeof of !== "number") return changesOfText(of, present(of));
    const [start, end] = spans[of] || [0, 0];
    return [[start, end, present(of)]];
  });
  const characters = [...whole]; // some take two units in a script, and count once
  for (const [start, end, written] of changes.sort((a, b) => b[0] - a[0])) characters.splice(start, end - start, written);
  return characters.join("");
};

/** What another value of a setting changes in the text. @param {Setting} setting @param {string} to @returns {TextChange[]} */
const changesOfText = ({ kind, change: [start, end, written], also = [] }, to) => {
  if (kind !== "tokens") return [[start, end, written.replace("VALUE", () => to)]];
  const rows = to.split(" ").map((word) => tapeHere().data.words[word]);
  const ids = `[${rows.map(({ id }) => id).join(", ")}]`;
  const others = also.map((/** @type {TextChange} */ [first, last, of]) => /** @type {TextChange} */ ([first, last, of && ids]));
  return [[start, end, `[${rows.map((row) => row.written).join(", ")}]`], ...others];
};
