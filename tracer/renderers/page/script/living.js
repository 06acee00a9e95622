// @ts-check

// A page whose numbers can be changed: the script computes what follows, and the page shows it.

/** @typedef {{place: number, before: Decimal, after: Decimal}} Change */

/** The numbers of the file at places that were changed. @type {Map<number, Decimal>} */
const ofFile = new Map();
/** The changes that can be undone, and those that can be made again. @type {Change[]} */
const done = [];
/** @type {Change[]} */
const undone = [];

const TYPED_NUMBER = /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,3})?$/i;
const TYPED_INFINITY = /^-(\.?inf|∞)$/;

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

/** The number at a place. @param {number} place @returns {Decimal} */
const numberAt = (place) => {
  const value = tapeHere().values.find(({ places: own }) => own?.includes(place));
  return value?.numbers[value.places?.indexOf(place) ?? 0];
};

/** Show what follows from another number at a place; where nothing does, the page stays as it is. @param {number} place @param {Decimal} number */
const put = (place, number) => {
  const before = numberAt(place);
  if (!ofFile.has(place)) ofFile.set(place, before);
  const shown = new Map([...places.keys()].map((of) => [of, printedAt(of)]));
  const changed = tapeHere().set(place, number);
  try {
    showChanges(tapeHere().evaluate(changed), shown);
  } catch (error) {
    tapeHere().evaluate(tapeHere().set(place, before));
    throw error;
  }
};

/** Change a number; a change that continues the one before it is undone together with it. @param {number} place @param {string} typed @param {boolean} continues */
const change = (place, typed, continues) => {
  const hides = TYPED_INFINITY.test(typed);
  if (!hides && !TYPED_NUMBER.test(typed)) throw new NoResult(`expected a number, got ${typed}`);
  const [before, after] = [numberAt(place), hides ? HIDDEN : decimal(typed)];
  put(place, after);
  const last = done.at(-1);
  if (continues && last?.place === place) last.after = after;
  else done.push({ place, before, after });
  undone.length = 0;
  nameChanges();
};

/** @param {Change[]} from @param {Change[]} to @param {"before" | "after"} which */
const stepThrough = (from, to, which) => {
  const last = from.pop();
  if (!last) return;
  to.push(last);
  put(last.place, last[which]);
  nameChanges();
};
const undo = () => stepThrough(done, undone, "before");
const redo = () => stepThrough(undone, done, "after");

/** The numbers of the file, as one change after the other. */
const reset = () => {
  for (const place of differing()) {
    const [before, after] = [numberAt(place), /** @type {Decimal} */ (ofFile.get(place))];
    put(place, after);
    done.push({ place, before, after });
  }
  undone.length = 0;
  nameChanges();
};

/** The places whose number is not that of the file. */
const differing = () => [...ofFile].filter(([place, number]) => !same(numberAt(place), number)).map(([place]) => place);

/** The text of the scenario, with its changed numbers. */
const scenario = () => {
  const { text: whole, spans } = /** @type {TapeOnPage} */ (data.tape);
  const characters = [...whole]; // some take two units in a script, and count once
  const start = (/** @type {number} */ place) => (spans[place] || [0])[0];
  for (const place of differing().sort((a, b) => start(b) - start(a))) {
    const [from, to] = spans[place] || [0, 0];
    const number = numberAt(place);
    characters.splice(from, to - from, isInfinite(number) ? "-inf" : textOf(number));
  }
  return characters.join("");
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
  for (const [of, list] of places) {
    if (!valueOnTape(of)) list.forEach((place) => place.closest(BLOCK)?.classList.add("of-file"));
  }
  watching.disconnect();
  all("ol.working", text).forEach((lines) => watching.observe(lines));
};

/** The places of changed numbers. @type {Set<HTMLElement>} */
const marked = new Set();

const unmarkChanges = () => {
  for (const place of marked) {
    place.classList.remove("changed", "rose", "fell");
    place.removeAttribute("title");
  }
  marked.clear();
};

/** @param {HTMLElement} place @param {string} before @param {string} now */
const markPlace = (place, before, now) => {
  const [old, fresh] = [readNumber(before), readNumber(now)];
  const at = old && fresh ? Math.max(old.places, fresh.places) : 0;
  const rose = !old || !fresh || digitsAt(fresh, at) > digitsAt(old, at);
  marked.add(place);
  place.classList.add("changed", rose ? "rose" : "fell");
  place.setAttribute("title", `was ${before}`);
};

/** Write changed numbers wherever they stand, and redraw what shows them. @param {Set<number>} changed the values on the tape @param {Map<string, string>} before */
const showChanges = (changed, before) => {
  for (const index of changed) data.values[index].entries = {};
  earlier.clear();
  unmarkChanges();
  const drawings = new Set();
  for (const [of, old] of before) {
    if (!changed.has(valueOf(of))) continue;
    const number = printedAt(of);
    if (number === old) continue;
    earlier.set(of, old);
    for (const place of places.get(of) || []) {
      rewrite(place, number);
      markPlace(place, old, number);
      drawings.add(place.closest("table, svg"));
    }
  }
  for (const drawing of drawings) if (drawing instanceof Element) redraw(drawing);
  rewriteLines(changed);
  for (const index of changed) for (const map of shownMaps.get(index) || []) shadeMap(map);
  document.body.classList.toggle("differs", differing().length > 0);
  if (pointed) show(pointed);
  document.dispatchEvent(new CustomEvent("changed"));
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

/** A slider for one number of the followed token. */
const offerNumber = () => {
  const of = (dragged?.dataset.numbers || "").split(" ")[Number(select("token")?.value ?? data.token)];
  const place = of && placeOf(of);
  if (!dragged || typeof place !== "number") return;
  const size = Math.max(1, Math.ceil(Math.abs(Number(textOf(numberAt(place))))));
  const slider = document.createElement("input");
  const decimals = Math.max(2, -numberAt(place).e);
  Object.assign(slider, { type: "range", min: -2 * size, max: 2 * size, step: 10 ** -decimals });
  slider.value = textOf(numberAt(place));
  slider.setAttribute("aria-label", nameOf(of));
  const shown = inText(of, printedAt(of));
  slider.addEventListener("input", () => change(place, Number(slider.value).toFixed(decimals), true));
  document.addEventListener("changed", () => (slider.value = textOf(numberAt(place))));
  all(".number", dragged).forEach(discard);
  dragged.replaceChildren(`Drag ${nameOf(of)}: `, slider, " ", shown);
  dragged.hidden = false;
};
if (tape) {
  offerNumber();
  select("token")?.addEventListener("change", offerNumber);
  document.addEventListener("replaced", offerNumber);
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
  the("changes", HTMLOutputElement).textContent = changesText();
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
    const { sides = [], relations = [], result: last = "" } = line(tapeHere(), index, at) || {};
    return [...sides, last].map((side, i) => (i ? `${relations[i - 1]} ${side}` : side)).join(" ");
  },
  scenario,
};
if (tape) Object.assign(window, { decoderTrace });
