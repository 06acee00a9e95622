// @ts-check

// The numbers of the page: where each of them stands, and its line, which is written in the data.

/** @typedef {string | string[]} Piece text; or text that is put in from entries, which follow it */
/** @typedef {{number: string, work?: Piece[], sign?: string, result?: string, is?: string}} Entry */
/** @typedef {{symbol: string, address: string, labels: string[][], given: boolean, entries: Record<string, Entry>}} Source */

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
const the = (id, kind) => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`no ${id}`);
  return found;
};

/** @param {string} selector @param {ParentNode} [within] */
const all = (selector, within = document) =>
  /** @type {HTMLElement[]} */ ([...within.querySelectorAll(selector)]);

/** What an event has happened to. @param {Event} event @param {string} selector */
const under = (event, selector) =>
  event.target instanceof Element
    ? /** @type {HTMLElement | null} */ (event.target.closest(selector))
    : null;

/** @param {string} tag @param {string} kind @param {...(string | Node)} inside */
const element = (tag, kind, ...inside) => {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
};

/** @param {string} kind @param {...(string | Node)} inside */
const button = (kind, ...inside) => {
  const made = element("button", kind, ...inside);
  made.setAttribute("type", "button");
  return made;
};

const spoken = the("spoken", HTMLParagraphElement);

/** Tell readers who do not see what has changed: the only place of the page that does. @param {string} words */
const speak = (words) => {
  spoken.textContent = words;
};

/** @typedef {{values: Source[], token: number, key: string, tape?: TapeOnPage, what_if?: WhatIf[][], live?: Live}} Data `key` is the checksum of its numbers */
/** @typedef {TapeData & {text: string, spans: ([number, number] | null)[], settings: Setting[], activations: Record<string, FormulaTree>}} TapeOnPage with the scenario's text, and where its numbers are typed */
/** @typedef {{version: number, first: number, typed: string[]}} Live of a page whose numbers can be changed */

/** @type {Data} */
const data = JSON.parse(the("data", HTMLScriptElement).textContent || "");
const text = the("text", HTMLElement);
const sections = all("section.step");

/** The pass of the page, if the script can compute it. @type {Tape | null} */
let tape = null;

/** A value of the tape as a source, whose entries are written when they are asked for. @param {TapeValue} value @returns {Source} */
const sourceOnTape = ({ symbol, address, labels, operation }) => ({
  ...{ symbol: written(symbol), address, labels },
  ...{ given: operation.kind === "given", entries: {} },
});

/** The place of an entry among those of its value, counted row by row. @param {number[]} shape @param {string} place */
const flatPlace = (shape, place) =>
  place.split(",").filter(Boolean).reduce((flat, i, axis) => flat * shape[axis] + Number(i), 0);

/** Take the numbers of a page that takes the place of this one, or of this one. @param {Data} its */
const adopt = (its) => {
  Object.assign(data, its);
  tape = data.tape ? new Tape(data.tape) : null;
  if (tape) data.values = [...tape.values.map(sourceOnTape), ...data.values];
};
adopt(data);

/** The number of its source in the data. @param {string} of */
const valueOf = (of) => Number(of.split(":")[0]);

/** @param {string} of */
const sourceOf = (of) => data.values[valueOf(of)];

/** The value of a number on the tape; undefined for one of another pass. @param {string} of */
const valueOnTape = (of) => tape?.values[valueOf(of)];

/** @param {string} of */
const entryOf = (of) => {
  const [source, at] = [sourceOf(of), of.split(":")[1]];
  const value = valueOnTape(of);
  if (tape && value) source.entries[at] ??= entryToPointAt(tape, valueOf(of), flatPlace(value.shape, at));
  return source.entries[at];
};

/** A number as it is printed. @param {string} of */
const printedAt = (of) => {
  const value = valueOnTape(of);
  if (!tape || !value) return entryOf(of).number;
  return numberText(tape.pencil.number(value, flatPlace(value.shape, of.split(":")[1])));
};

/** `Q¹[Alex, d₁]`. @param {string} of */
const nameOf = (of) => {
  const { symbol, labels } = sourceOf(of);
  const at = of.split(":")[1];
  return at ? `${symbol}[${at.split(",").map((i, axis) => labels[axis][Number(i)]).join(", ")}]` : symbol;
};

/** The number that a copy of it repeats, or itself. @param {string} of */
const originalOf = (of) => {
  let from = of;
  for (let { is } = entryOf(from); is; { is } = entryOf(from)) from = is;
  return from;
};

/** A number by address and place, the same in each page. @param {string} of */
const keyOf = (of) => {
  const source = sourceOf(of);
  const alike = data.values.filter((other) => other.address === source.address);
  return `${source.address} ${alike.indexOf(source)}:${of.split(":")[1]}`;
};

/** @param {string} wanted */
const ofKey = (wanted) => {
  const [, address, which, at] = /^(.*) (\d+):(.*)$/.exec(wanted) || [];
  const source = data.values.filter((source) => source.address === address)[Number(which)];
  return source && (valueOnTape(`${data.values.indexOf(source)}:`) || source.entries[at]) ? `${data.values.indexOf(source)}:${at}` : "";
};

/** The numbers that stand in the text, by their keys. @returns {Map<string, string>} */
const numbersByKey = () => new Map([...places.keys()].map((of) => [keyOf(of), printedAt(of)]));

/** The numbers that a number is computed from. @param {string} of */
const operandsOf = (of) => {
  const { work = [] } = entryOf(of);
  return [...new Set(work.flatMap((piece) => (typeof piece === "string" ? [] : piece.slice(1))))];
};

/** The numbers before the last change of the scenario, by their present names. @type {Map<string, string>} */
const earlier = new Map();

/** Where each number stands in the text. @type {Map<string, HTMLElement[]>} */
const places = new Map();

/** @param {HTMLElement} place */
const remember = (place) => {
  const of = place.dataset.of || "";
  const others = places.get(of);
  if (others) others.push(place);
  else places.set(of, [place]);
};
all("[data-of]", text).forEach(remember);

/** Remove a part of the page with the numbers in it. @param {HTMLElement} part */
const discard = (part) => {
  part.remove();
  forgetInside(part);
};

/** Forget the numbers in a part of the page. @param {HTMLElement} part */
const forgetInside = (part) => {
  for (const { dataset } of all("[data-of]", part)) {
    const { of = "" } = dataset;
    places.set(of, (places.get(of) || []).filter((place) => !part.contains(place)));
  }
};

/** The place of a number in a matrix that is shown for this token; on a walk, in a matrix of the stop. @param {string} of */
const cellOf = (of) => {
  const cells = (places.get(of) || []).filter((place) => place.tagName === "TD" && !place.closest("[data-for][hidden]"));
  return (stopNumber && cells.find((cell) => aside.contains(cell))) || cells[0];
};

/**
 * The pieces of a line, its numbers made with `number`.
 * @param {Piece[]} pieces @param {(of: string, written: string) => Node} number
 */
const drawn = (pieces, number) =>
  pieces.map((piece) => (typeof piece === "string" ? piece : number(piece[1], piece[0])));

/** A number to point at. @param {string} of @param {string} written */
const numberOf = (of, written) => {
  const made = element("span", "number", written);
  made.dataset.of = of;
  return made;
};

/** A number inside the text. @param {string} of @param {string} written */
const inText = (of, written) => {
  const made = numberOf(of, written);
  remember(made);
  return made;
};

/** Lines of changed numbers: at once what a reader sees, the others while nothing else is to be done. @type {Set<HTMLElement>} */
const toDraw = new Set();
/** The lists of lines that are on the screen. @type {Set<Element>} */
const inSight = new Set();
const watching = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) isIntersecting ? inSight.add(target) : inSight.delete(target);
  drawInSight();
});

/** The numbers from which others are computed, but not those on a tape. @type {Set<string>} */
let used = new Set();

const readUsed = () => {
  const works = data.values.flatMap(({ entries }) => Object.values(entries).map(({ work = [] }) => work));
  used = new Set(works.flat().flatMap((piece) => (typeof piece === "string" ? [] : piece.slice(1))));
};

/** Whether a line has the number; a row or a matrix on a tape is in the lines of what is computed from it. @param {string} of */
const isUsed = (of) => {
  const value = valueOnTape(of);
  if (!tape || !value) return used.has(of);
  const readers = [...tape.values.keys()].filter((i) => tape?.values[i].inputs.includes(valueOf(of)));
  const first = (/** @type {number} */ i) => `${i}:${tape?.values[i].shape.map(() => 0).join(",")}`;
  return value.shape.length > 0 ? readers.length > 0 : readers.some((i) => operandsOf(first(i)).includes(of));
};

/** Draw the lines that are shown, which are empty or plain until then. @param {HTMLElement} block */
const draw = (block) => {
  for (const lines of all("ol[data-lines]:empty", block)) if (!lines.closest("[data-for][hidden]")) beginLines(lines);
  for (const line of all("li[data-line]:not(.drawn)", block)) {
    if (!line.closest("[data-for][hidden]")) drawLine(line);
  }
};

/** The labels of lines that the script writes. @param {HTMLElement} lines */
const beginLines = (lines) => {
  const { labels = "" } = lines.dataset;
  for (const of of (lines.dataset.lines || "").split(" ")) {
    const { symbol, labels: axes } = sourceOf(of);
    const names = of.split(":")[1].split(",").filter(Boolean).map((i, axis) => axes[axis][Number(i)]);
    const label = names.slice(labels === "column" ? 1 : 0).join(", ");
    const begun = labels === "symbol" ? element("span", "front", `${symbol} = `) : element("span", "label", `${label}: `);
    begun.dir = labels === "symbol" ? "" : "auto";
    const line = element("li", "", begun);
    line.dataset.line = of;
    lines.append(line);
  }
  watching.observe(lines);
};

const drawInSight = () => {
  for (const line of toDraw) if (line.parentElement && inSight.has(line.parentElement)) drawLine(line);
};

/** Draw the waiting lines of a part of the page at once. @param {Element} part */
const drawWithin = (part) => {
  for (const line of toDraw) if (part.contains(line)) drawLine(line);
};

/** @param {HTMLElement} line */
const drawLine = (line) => {
  toDraw.delete(line);
  const { work, sign, result } = entryOf(line.dataset.line || "");
  if (!work || !sign || !result) return;
  forgetInside(line);
  line.classList.add("drawn");
  line.replaceChildren(...all(".label, .front", line));
  const number = inText(line.dataset.line || "", result);
  // No cell and no line leads to it.
  if (!cellOf(line.dataset.line || "") && !isUsed(line.dataset.line || "")) Object.assign(number, { tabIndex: 0, role: "button" });
  const last = element("b", "", number);
  line.append(
    element("span", "work", ...unbroken(drawn(work, inText))),
    " ",
    element("span", "result", `${sign} `, last),
  );
};

/** @param {IdleRequestCallback} work */
const idle = (work) => ("requestIdleCallback" in window ? requestIdleCallback(work) : setTimeout(drawOthers));

/** Draw waiting lines as long as nothing else is to be done, or all. @param {IdleDeadline} [deadline] */
const drawOthers = (deadline) => {
  for (const line of toDraw) {
    if (deadline && deadline.timeRemaining() < 2) return void idle(drawOthers);
    drawLine(line);
  }
};
window.addEventListener("beforeprint", () => drawOthers());
