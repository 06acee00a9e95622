// @ts-check

// What the page shows of a change: its numbers, lines and pictures.

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
