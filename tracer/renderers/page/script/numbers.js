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

/** @typedef {{values: Source[], token: number, key: string, live?: Live}} Data `key` is the checksum of its numbers */
/** @typedef {{version: number, first: number, typed: string[]}} Live of a page whose numbers can be changed */

/** @type {Data} */
const data = JSON.parse(the("data", HTMLScriptElement).textContent || "");
const text = the("text", HTMLElement);
const sections = all("section.step");

/** The number of its source in the data. @param {string} of */
const valueOf = (of) => Number(of.split(":")[0]);

/** @param {string} of */
const sourceOf = (of) => data.values[valueOf(of)];

/** @param {string} of */
const entryOf = (of) => sourceOf(of).entries[of.split(":")[1]];

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
  for (const { dataset } of all("[data-of]", part)) {
    const { of = "" } = dataset;
    places.set(of, (places.get(of) || []).filter((place) => !part.contains(place)));
  }
};

/** The place of a number in a matrix that is told for this token. @param {string} of */
const cellOf = (of) =>
  (places.get(of) || []).find(
    (place) => place.tagName === "TD" && !place.closest("[data-for][hidden]"),
  );

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

/** The numbers from which others are computed. @type {Set<string>} */
let used = new Set();

const readUsed = () => {
  const works = data.values.flatMap(({ entries }) => Object.values(entries).map(({ work = [] }) => work));
  used = new Set(works.flat().flatMap((piece) => (typeof piece === "string" ? [] : piece.slice(1))));
};

/** Draw the lines that are shown, which are empty or plain until then. @param {HTMLElement} block */
const draw = (block) => {
  for (const line of all("li[data-line]:not(.drawn)", block)) {
    if (line.closest("[data-for][hidden]")) continue;
    const { work, sign, result } = entryOf(line.dataset.line || "");
    if (!work || !sign || !result) continue;
    line.classList.add("drawn");
    line.replaceChildren(...all(".label, .front", line));
    const number = inText(line.dataset.line || "", result);
    // No cell and no line leads to it.
    if (!cellOf(line.dataset.line || "") && !used.has(line.dataset.line || ""))
      Object.assign(number, { tabIndex: 0, role: "button" });
    const last = element("b", "", number);
    line.append(
      element("span", "work", ...unbroken(drawn(work, inText))),
      " ",
      element("span", "result", `${sign} `, last),
    );
  }
};
