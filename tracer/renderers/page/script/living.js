// @ts-check

// A page whose numbers can be changed: the script computes what follows, and the page shows it.

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

// --- what the page shows -------------------------------------------------------------------------

/** The heat maps of each value of the tape. @type {Map<number, HTMLElement[]>} */
let shownMaps = new Map();

/** Parts of the text that show numbers of another pass, which the tape does not compute. */
const BLOCK = "p, table, ol, .plot";

/** Look up what shows the values of the tape. */
const readText = () => {
  shownMaps = new Map();
  for (const map of all(".diagram .map", text)) {
    const value = valueOf(all("[data-number]", map)[0]?.dataset.number || "");
    shownMaps.set(value, [...(shownMaps.get(value) || []), map]);
  }
  // Lines are drawn when they are shown: until then their numbers have no places.
  const lines = all("li[data-line], ol[data-lines]", text);
  const ofLines = lines.map((each) => [(each.dataset.line || each.dataset.lines || "").split(" ")[0], [each]]);
  for (const [of, list] of /** @type {[string, HTMLElement[]][]} */ ([...places, ...ofLines])) {
    if (!valueOnTape(of)) list.forEach((place) => place.closest(BLOCK)?.classList.add("of-file"));
  }
  for (const line of all("ol.working > li", text)) {
    if (!line.dataset.line || !valueOnTape(line.dataset.line)) line.classList.add("of-file");
  }
  watching.disconnect();
  all("ol.working", text).forEach((lines) => watching.observe(lines));
};

/** The places of changed numbers. @type {Set<HTMLElement>} */
let marked = new Set();

const unmarkChanges = () => {
  marked.forEach(unmark);
  marked = new Set();
};

/** @param {HTMLElement} place */
const unmark = (place) => {
  place.classList.remove("changed", "rose", "fell");
  place.removeAttribute("title");
};

/** @param {HTMLElement} place @param {string} before @param {string} now */
const markPlace = (place, before, now) => {
  const [old, fresh] = [readNumber(before), readNumber(now)];
  const at = old && fresh ? Math.max(old.places, fresh.places) : 0;
  const kind = !old || !fresh || digitsAt(fresh, at) > digitsAt(old, at) ? "rose" : "fell";
  if (!place.classList.contains(kind)) {
    place.classList.remove("rose", "fell");
    place.classList.add("changed", kind);
  }
  place.title = `was ${before}`;
  marked.add(place);
};

/** Write changed numbers wherever they stand, mark them unless all are those of the file again, and redraw what shows them. @param {Set<number>} changed the values on the tape @param {Map<string, string>} before */
const showChanges = (changed, before) => {
  for (const index of changed) data.values[index].entries = {};
  earlier.clear();
  const unchanged = marked;
  marked = new Set();
  const drawings = new Set();
  const differs = differing().length > 0;
  for (const [of, old] of before) {
    if (!changed.has(valueOf(of))) continue;
    const number = printedAt(of);
    if (number === old) continue;
    if (differs) earlier.set(of, old);
    for (const place of places.get(of) || []) {
      rewrite(place, number);
      drawings.add(place.closest("table, svg"));
      if (!differs) continue;
      markPlace(place, old, number);
      unchanged.delete(place);
    }
  }
  unchanged.forEach(unmark);
  for (const drawing of drawings) if (drawing instanceof Element) redraw(drawing);
  rewriteLines(changed);
  for (const index of changed) for (const map of shownMaps.get(index) || []) shadeMap(map);
  hideSentences(differs);
  if (pointed) show(pointed);
  document.dispatchEvent(new CustomEvent("changed"));
};

/** Hide sentences about the numbers of the file, or show them; what is read stays where it is. @param {boolean} differs */
const hideSentences = (differs) => {
  if (document.body.classList.contains("differs") === differs) return;
  const find = anchor();
  const top = find()?.getBoundingClientRect().top || 0;
  document.body.classList.toggle("differs", differs);
  keepAt(find(), top);
};

/** What stays where it is on the screen, to be found again: the number that is changed, the first picture, or the section. @returns {() => Element | null | undefined} */
const anchor = () => {
  const { key } = inField;
  if (key) return () => cellOf(ofKey(key));
  const shown = [dragged, document.getElementById("what-if")].find((each) => each && each.getBoundingClientRect().bottom > 0);
  if (shown) return () => shown;
  const id = anchored()?.id;
  return () => (id ? document.getElementById(id) : null);
};

/** The section that is read. */
const anchored = () =>
  sections.find((section) => !section.hidden && section.getBoundingClientRect().bottom > innerHeight / 3);

/** Scroll so that a part of the page is as far down as it was. @param {Element | null | undefined} part @param {number} top */
const keepAt = (part, top) => {
  if (part) window.scrollBy({ top: part.getBoundingClientRect().top - top, behavior: "instant" });
};

/** @param {HTMLElement} place @param {string} number */
const rewrite = (place, number) => {
  const words = place.tagName === "TD" ? place.querySelector("span") || place : place;
  if (["TD", "SPAN", "text", "B"].includes(words.tagName)) words.textContent = number;
};

/** Lines of changed values are written anew. @param {Set<number>} changed */
const rewriteLines = (changed) => {
  for (const line of all("li[data-line]", text)) {
    if (changed.has(valueOf(line.dataset.line || "")) && !line.closest("[data-for][hidden]")) toDraw.add(line);
    else if (changed.has(valueOf(line.dataset.line || ""))) line.classList.remove("drawn");
  }
  drawInSight();
  idle(drawOthers);
};

/** Draw a table's colors and bars, or a picture, from its numbers. @param {Element} drawing */
const redraw = (drawing) => {
  if (drawing.matches("table.bars")) redrawBars(drawing);
  else if (drawing.matches("table[data-heat]")) redrawHeat(/** @type {HTMLElement} */ (drawing));
  else redrawArcs(drawing);
};

/** @param {Element} drawing */
const redrawArcs = (drawing) => {
  for (const arc of all("path[data-of]", drawing)) arc.setAttribute("stroke-width", (WIDEST_ARC * share(shownSize(arc))).toFixed(2));
  const title = drawing.querySelector("text")?.textContent || "";
  drawing.parentElement?.setAttribute("aria-label", title);
};

const WIDEST_ARC = 16;
/** @param {number} number */
const share = (number) => Math.min(Math.max(number, 0), 1);

/** The number that an element shows, as a float; -∞ has none. @param {HTMLElement} place */
const shownSize = (place) => {
  const of = place.dataset.of || place.dataset.number || "";
  const value = /** @type {TapeValue} */ (valueOnTape(of));
  const number = tapeHere().pencil.number(value, flatPlace(value.shape, of.split(":")[1]));
  return isInfinite(number) ? 0 : Number(textOf(number));
};

/** @param {Element} table */
const redrawBars = (table) => {
  const cells = all("td[data-of]", table);
  const numbers = cells.map(shownSize);
  const low = Math.min(0, ...numbers);
  const span = Math.max(0, ...numbers) - low || 1;
  const zero = (100 * -low) / span;
  cells.forEach((cell, i) => {
    const [rect, axis] = [cell.querySelector("rect"), cell.querySelector("path")];
    const length = (100 * numbers[i]) / span;
    rect?.setAttribute("x", (zero + Math.min(length, 0)).toFixed(2));
    rect?.setAttribute("width", Math.abs(length).toFixed(2));
    rect?.setAttribute("class", numbers[i] > 0 ? "positive" : numbers[i] < 0 ? "negative" : "zero");
    axis?.setAttribute("d", `M${zero.toFixed(2)} 0V1`);
  });
};

const SHADES = 10;

/** @param {HTMLElement} table */
const redrawHeat = (table) => {
  const cells = all("td[data-of]", table);
  const numbers = cells.map(shownSize);
  const largest = Math.max(...numbers.map(Math.abs)) || 1;
  cells.forEach((cell, i) => {
    const kinds = [...cell.classList].filter((kind) => /^(heat|cold)-/.test(kind));
    cell.classList.remove(...kinds);
    if (table.dataset.heat === "share") return cell.classList.add(`heat-${Math.ceil(share(numbers[i]) * SHADES)}`);
    const depth = Math.round((Math.abs(numbers[i]) / largest) * SHADES);
    if (depth) cell.classList.add(`${numbers[i] < 0 ? "cold" : "heat"}-${depth}`);
  });
};

/** The small heat map of a box of the diagram; in one that is reduced, a cell stands for many numbers. @param {HTMLElement} map */
const shadeMap = (map) => {
  const cells = all("[data-number]", map);
  const numbers = cells.map(shownSize);
  const largest = Math.max(...numbers.map(Math.abs)) || 1;
  cells.forEach((cell, i) => {
    cell.setAttribute("class", numbers[i] < 0 ? "cold" : "heat");
    cell.setAttribute("fill-opacity", String(Math.round((Math.abs(numbers[i]) / largest) * SHADES) / SHADES));
  });
};

// --- the first picture ---------------------------------------------------------------------------

const dragged = document.getElementById("dragged");

/** The slider for one number of the followed token, and the place of the number. @type {{slider: HTMLInputElement, place: number} | null} */
let offered = null;

/** Offer a slider. */
const offerNumber = () => {
  const of = (dragged?.dataset.numbers || "").split(" ")[Number(select("token")?.value ?? data.token)];
  const place = of && placeOf(of);
  if (!dragged || typeof place !== "number") return;
  const number = tapeHere().numberAt(place);
  const size = Math.max(1, Math.ceil(Math.abs(Number(textOf(number)))));
  const slider = document.createElement("input");
  const decimals = Math.max(2, -number.e);
  Object.assign(slider, { type: "range", min: -2 * size, max: 2 * size, step: 10 ** -decimals });
  slider.value = textOf(number);
  slider.setAttribute("aria-label", nameOf(of));
  const shown = inText(of, printedAt(of));
  slider.addEventListener("input", () =>
    tryChange(slider, () => change(place, Number(slider.value).toFixed(decimals), true)),
  );
  offered = { slider, place };
  all(".number", dragged).forEach(discard);
  const { labels } = sourceOf(of);
  const [token, feature] = of.split(":")[1].split(",").map((i, axis) => labels[axis][Number(i)]);
  dragged.replaceChildren(`Drag “${feature}” of “${token}”:`, slider, shown);
  dragged.hidden = false;
};
if (tape) {
  offerNumber();
  select("token")?.addEventListener("change", offerNumber);
  document.addEventListener("replaced", offerNumber);
  document.addEventListener("changed", () => offered && (offered.slider.value = textOf(tapeHere().numberAt(offered.place))));
}

// --- buttons, and other programs -----------------------------------------------------------------

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
