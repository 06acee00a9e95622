// @ts-check

// What a reader does with the page: points at numbers, chooses, reveals, tries. All lines are
// written in the data beside it; here nothing is computed but whether a typed number is right.

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

/** @param {string} tag @param {string} kind @param {...(string | Node)} inside */
const element = (tag, kind, ...inside) => {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
};

/** @type {{values: Source[], token: number}} */
const data = JSON.parse(the("data", HTMLScriptElement).textContent || "");
const text = the("text", HTMLElement);
const sections = all("section.step");

// --- numbers and their lines ---------------------------------------------------------------------

/** Where each number stands in the text. @type {Map<string, HTMLElement[]>} */
const places = new Map();
/** @param {HTMLElement} place */
const remember = (place) => {
  const of = place.dataset.of || "";
  const found = places.get(of);
  if (found) found.push(place);
  else places.set(of, [place]);
};
all("[data-of]", text).forEach(remember);

/** @param {string} of */
const split = (of) => {
  const [value, at] = of.split(":");
  return { source: data.values[Number(value)], at };
};

/** @param {string} of */
const entry = (of) => {
  const { source, at } = split(of);
  return source.entries[at];
};

/** `Q¹[Alex, d₁]`. @param {string} of */
const name = (of) => {
  const { source, at } = split(of);
  const labels = at ? at.split(",").map((i, axis) => source.labels[axis][Number(i)]) : [];
  return labels.length ? `${source.symbol}[${labels.join(", ")}]` : source.symbol;
};

/** Numbers that are still to be found, each with its line. @type {Map<string, HTMLElement>} */
const asked = new Map();
const UNKNOWN = "?";

/** @param {string} of @param {string} written */
const shown = (of, written) => (asked.has(of) ? UNKNOWN : written);

/**
 * The pieces of a line, its numbers made with `number`.
 * @param {Piece[]} pieces @param {(of: string, written: string) => Node} number
 */
const drawn = (pieces, number) =>
  pieces.map((piece) => (typeof piece === "string" ? piece : number(piece[1], piece[0])));

/** @param {Piece[]} pieces */
const operands = (pieces) =>
  pieces.flatMap((piece) => (typeof piece === "string" ? [] : piece.slice(1)));

/** A number inside the text. @param {string} of @param {string} written */
const inText = (of, written) => {
  const made = element("span", "number", written);
  made.dataset.of = of;
  remember(made);
  return made;
};

/** Draw the lines that are shown, which are empty or plain until then. @param {HTMLElement} block */
const draw = (block) => {
  for (const line of all("li[data-line]:not(.drawn)", block)) {
    if (line.closest("[data-for][hidden]")) continue;
    const of = line.dataset.line || "";
    const { work, sign, result } = entry(of);
    if (!work || !sign || !result) continue;
    line.classList.add("drawn");
    all(".work, .result", line).forEach((plain) => plain.remove());
    const sides = element("span", "work", ...drawn(work, inText));
    const last = element("span", "result", `${sign} `, element("b", "", inText(of, result)));
    line.append(sides, " ", last);
  }
};

// --- pointing at a number ------------------------------------------------------------------------

const panel = the("panel", HTMLElement);
const trail = the("trail", HTMLOListElement);
const told = the("line", HTMLElement);
const COLOURS = 5;

/** The numbers on the way to the one that is shown. @type {string[]} */
let way = [];
/** @type {HTMLElement[]} */
let lit = [];
/** @type {string[]} */
const LIGHTS = ["lit", "here", ...Array.from({ length: COLOURS }, (_, i) => `source-${i}`)];

const unlight = () => {
  lit.forEach((place) => place.classList.remove(...LIGHTS));
  lit = [];
};

/** @param {string} of @param {...string} kinds */
const light = (of, ...kinds) => {
  for (const place of places.get(of) || []) {
    place.classList.add(...kinds);
    lit.push(place);
  }
};

/** Show the line of a number, and light what it was made of. @param {string} of */
const show = (of) => {
  unlight();
  let from = of;
  for (let is = entry(of).is; is; is = entry(from).is) from = is;
  const { number, work, sign, result } = entry(from);
  const pieces = work || [];
  const values = [...new Set(operands(pieces).map((each) => each.split(":")[0]))];
  /** @param {string} each */
  const colour = (each) => `source-${values.indexOf(each.split(":")[0]) % COLOURS}`;
  /** @param {string} each @param {string} written */
  const button = (each, written) => {
    const made = element("button", `number ${colour(each)}`, shown(each, written));
    made.setAttribute("type", "button");
    made.dataset.go = each;
    made.title = name(each);
    return made;
  };
  const known = asked.has(from) ? UNKNOWN : null;
  const title = from === of ? name(of) : `${name(of)} is ${name(from)}`;
  const line = work
    ? [...drawn(pieces, button), ` ${sign} `, element("b", "", known || result || "")]
    : [element("b", "", known || number), ...(split(from).source.given ? [", given"] : [])];
  const written = element("p", "line", ...line);
  written.dataset.line = from;
  told.replaceChildren(element("p", "title", title, work ? " =" : " ="), written, sources(values, pieces, colour));
  panel.hidden = false;
  light(of, "here");
  for (const each of new Set(operands(pieces))) light(each, "lit", colour(each));
};

/**
 * The values that a line puts in; their numbers too, where the text shows them nowhere.
 * @param {string[]} values @param {Piece[]} pieces @param {(of: string) => string} colour
 */
const sources = (values, pieces, colour) => {
  const list = element("ul", "sources");
  for (const value of values) {
    const { symbol, address } = data.values[Number(value)];
    const own = [...new Set(operands(pieces))].filter((of) => of.split(":")[0] === value);
    const item = element("li", "", element("span", `swatch ${colour(own[0])}`, symbol), ` ${address}`);
    const nowhere = own.filter((of) => !cellOf(of));
    for (const of of nowhere) {
      const made = element("span", `number lit ${colour(of)}`, shown(of, entry(of).number));
      made.dataset.lit = of;
      item.append(" ", made);
    }
    list.append(item);
  }
  return list;
};

const crumbs = () =>
  trail.replaceChildren(
    ...way.map((of, i) => {
      const crumb = element("button", "", name(of));
      crumb.setAttribute("type", "button");
      crumb.dataset.crumb = String(i);
      if (i === way.length - 1) crumb.setAttribute("aria-current", "true");
      return element("li", "", crumb);
    }),
  );

/** @param {string[]} numbers */
const walk = (numbers) => {
  way = numbers;
  crumbs();
  if (way.length) show(way[way.length - 1]);
  else {
    unlight();
    told.replaceChildren();
    panel.hidden = true;
  }
};

/** The place of a number in a matrix that is told for this token. @param {string} of */
const cellOf = (of) =>
  (places.get(of) || []).find(
    (place) => place.tagName === "TD" && !place.closest("[data-for][hidden]"),
  );

/** Go to the place of a number in its matrix, if it has one. @param {string} of */
const goTo = (of) => {
  const cell = cellOf(of);
  if (!cell) return;
  const section = cell.closest("section");
  if (section && section.hidden) everything();
  cell.scrollIntoView({ block: "center", inline: "center" });
  moving = true;
  focusOn(cell);
  moving = false;
};

/** Whether the focus is being moved: that alone begins no new trail. */
let moving = false;

/** @param {string[]} numbers */
const travel = (numbers) => {
  walk(numbers);
  if (numbers.length) goTo(numbers[numbers.length - 1]);
};

const back = () => travel(way.slice(0, -1));

const close = () => {
  const last = way[way.length - 1];
  if (last && panel.contains(document.activeElement)) goTo(last);
  walk([]);
};

/** @param {Event} event @param {string} selector */
const under = (event, selector) =>
  event.target instanceof Element
    ? /** @type {HTMLElement | null} */ (event.target.closest(selector))
    : null;

text.addEventListener("focusin", (event) => {
  const cell = under(event, "td[data-of]");
  if (cell && !moving) walk([cell.dataset.of || ""]);
});
text.addEventListener("click", (event) => {
  const number = under(event, "span[data-of]");
  if (number) travel([number.dataset.of || ""]);
});
text.addEventListener("mouseover", (event) => {
  const number = under(event, "[data-of]");
  const moved = event.movementX || event.movementY; // else the page has moved below the mouse
  if (number && moved && !way.length) show(number.dataset.of || "");
});
panel.addEventListener("click", (event) => {
  const go = under(event, "[data-go]");
  const crumb = under(event, "[data-crumb]");
  if (go) travel([...way, go.dataset.go || ""]);
  else if (crumb) travel(way.slice(0, Number(crumb.dataset.crumb) + 1));
  else if (under(event, "#close")) close();
});

// --- matrices by keyboard ------------------------------------------------------------------------

for (const table of all("table.matrix", text)) {
  const first = table.querySelector("td[data-of]");
  if (first instanceof HTMLElement) first.tabIndex = 0;
}

/** One cell of each table is reached by Tab, the others from there. @param {HTMLElement} cell */
const focusOn = (cell) => {
  const table = cell.closest("table");
  if (table) all("td[tabindex]", table).forEach((other) => (other.tabIndex = -1));
  cell.tabIndex = 0;
  cell.focus({ preventScroll: true });
};

text.addEventListener("mousedown", (event) => {
  const cell = under(event, "td[data-of]");
  if (cell) {
    event.preventDefault();
    focusOn(cell);
  }
});

/** The cell beside another one. @param {HTMLTableCellElement} cell @param {string} key */
const beside = (cell, key) => {
  const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
  const body = /** @type {HTMLTableSectionElement} */ (row.parentElement);
  const numbers = [...row.cells].filter((each) => each.dataset.of);
  const column = numbers.indexOf(cell);
  const below = body.rows[row.sectionRowIndex + (key === "ArrowDown" ? 1 : -1)];
  switch (key) {
    case "ArrowLeft":
      return numbers[column - 1];
    case "ArrowRight":
      return numbers[column + 1];
    case "Home":
      return numbers[0];
    case "End":
      return numbers[numbers.length - 1];
    case "ArrowUp":
    case "ArrowDown":
      return below && below.cells[cell.cellIndex];
    default:
      return undefined;
  }
};

text.addEventListener("keydown", (event) => {
  const cell = under(event, "td[data-of]");
  if (!(cell instanceof HTMLTableCellElement) || board) return;
  const next = beside(cell, event.key);
  if (next) {
    event.preventDefault();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    focusOn(next);
  } else if (event.key === "Enter") {
    event.preventDefault(); // else it would press the button that it leads to
    const source = panel.querySelector("[data-go]");
    if (source instanceof HTMLElement) source.focus();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
  if (board) return onBoard(event);
  if (event.key === "Escape") close();
  if (event.key === "Backspace" && way.length) {
    event.preventDefault();
    back();
  }
});

// --- choosing ------------------------------------------------------------------------------------

/** @param {string} id */
const select = (id) => {
  const found = document.getElementById(id);
  return found instanceof HTMLSelectElement ? found : null;
};

const ofTokens = all("[data-for]").map((block) => ({
  block,
  tokens: new Set((block.dataset.for || "").split(" ")),
}));

/** Tell the text for a token, counted from 0. @param {string} token */
const follow = (token) => {
  for (const { block, tokens } of ofTokens) {
    block.hidden = !tokens.has(token);
    if (!block.hidden) draw(block);
  }
  for (const table of all("table[data-first-token]", text)) {
    const row = Number(token) - Number(table.dataset.firstToken);
    all("tbody tr", table).forEach((each, i) => each.classList.toggle("followed", i === row));
  }
};

/** Show the sections of the layer and the head that are chosen. */
const choose = () => {
  const unmasked = document.getElementById("unmasked");
  for (const section of sections) {
    const others = ["layer", "head"].some((what) => {
      const wanted = select(what)?.value;
      const own = section.dataset[what];
      return wanted && own && own !== wanted;
    });
    const beside = unmasked instanceof HTMLInputElement && !unmasked.checked;
    section.hidden = others || (beside && "unmasked" in section.dataset);
  }
};

const everything = () => {
  for (const what of ["layer", "head"]) {
    const chosen = select(what);
    if (chosen) chosen.value = "";
  }
  const unmasked = document.getElementById("unmasked");
  if (unmasked instanceof HTMLInputElement) unmasked.checked = true;
  choose();
};

const controls = the("controls", HTMLFormElement);
controls.addEventListener("submit", (event) => event.preventDefault());
controls.addEventListener("change", (event) => {
  if (event.target === select("token")) {
    const trying = tryButton.getAttribute("aria-pressed") === "true";
    if (trying) stopTrying();
    follow(select("token")?.value || "0");
    if (trying) startTrying();
  } else choose();
});
window.addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.hidden) {
    everything();
    target.scrollIntoView();
  }
});

// --- the board -----------------------------------------------------------------------------------

/** The section on the board, its pieces, and how many of them are revealed. */
/** @type {{at: number, pieces: HTMLElement[], revealed: number} | null} */
let board = null;
const boardKeys = the("board-keys", HTMLElement);

/** What a key reveals, one after the other: of a line its sides, then its result. @param {Element} section */
const piecesOf = (section) =>
  all("p, .formula, .scroll, .working > li, .working .result, img", section).filter(
    (piece) => !piece.closest("[hidden]") && !piece.parentElement?.closest(".scroll"),
  );

/** @param {number} at @param {boolean} whole */
const putOn = (at, whole) => {
  const pieces = piecesOf(sections[at]);
  sections.forEach((section, i) => section.classList.toggle("current", i === at));
  board = { at, pieces, revealed: whole ? pieces.length : 0 };
  reveal(0);
  window.scrollTo(0, 0);
};

/** @param {number} more */
const reveal = (more) => {
  if (!board) return;
  const { at, pieces } = board;
  const wanted = board.revealed + more;
  const next = nextShown(at, more);
  if (wanted > pieces.length || wanted < 0) {
    if (next !== undefined) putOn(next, more < 0);
    return;
  }
  board.revealed = wanted;
  pieces.forEach((piece, i) => piece.classList.toggle("unrevealed", i >= wanted));
  pieces[wanted - 1]?.scrollIntoView({ block: "nearest" });
};

/** The next section that is not hidden, or the one before. @param {number} at @param {number} step */
const nextShown = (at, step) => {
  for (let i = at + step; step && i >= 0 && i < sections.length; i += step) {
    if (!sections[i].hidden) return i;
  }
  return undefined;
};

const startBoard = () => {
  const inView = sections.findIndex(
    (section) => !section.hidden && section.getBoundingClientRect().bottom > innerHeight / 4,
  );
  walk([]);
  document.documentElement.requestFullscreen?.().catch(() => undefined);
  document.body.classList.add("board");
  boardKeys.hidden = false;
  putOn(Math.max(inView, 0), false);
  the("next", HTMLButtonElement).focus();
};

const endBoard = () => {
  if (!board) return;
  const section = sections[board.at];
  board.pieces.forEach((piece) => piece.classList.remove("unrevealed"));
  all(".unrevealed").forEach((piece) => piece.classList.remove("unrevealed"));
  board = null;
  document.body.classList.remove("board");
  boardKeys.hidden = true;
  if (document.fullscreenElement) document.exitFullscreen();
  section.scrollIntoView();
  the("board", HTMLButtonElement).focus({ preventScroll: true });
};

/** @param {KeyboardEvent} event */
const onBoard = (event) => {
  const onButton = event.target instanceof HTMLButtonElement && [" ", "Enter"].includes(event.key);
  if (event.key === "Escape") endBoard();
  else if (onButton) return;
  else if ([" ", "Enter", "ArrowRight", "ArrowDown", "PageDown"].includes(event.key)) reveal(1);
  else if (["ArrowLeft", "ArrowUp", "PageUp", "Backspace"].includes(event.key)) reveal(-1);
  else return;
  event.preventDefault();
};

the("board", HTMLButtonElement).addEventListener("click", startBoard);
the("next", HTMLButtonElement).addEventListener("click", () => reveal(1));
the("before", HTMLButtonElement).addEventListener("click", () => reveal(-1));
the("end", HTMLButtonElement).addEventListener("click", endBoard);
document.addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) endBoard();
});

// --- trying first --------------------------------------------------------------------------------

const tryButton = the("try", HTMLButtonElement);
const score = the("score", HTMLOutputElement);
const RIGHT = "right";
const LAST_DIGIT = "right but for the last digit";
const WRONG = "wrong";
/** @type {Record<string, number>} */
let judged = {};

/** A decimal as digits × 10^-places; null, if it is none. @param {string} written */
const decimal = (written) => {
  const plain = written
    .trim()
    .replace(/[−–]/g, "-")
    .replace(",", ".")
    .replace(/[×x*]\s*10\^?([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|-?[0-9]+)$/, (_, power) => `e${ofRaised(power)}`);
  const found = /^([-+]?)([0-9]*)\.?([0-9]*)(?:e([-+]?[0-9]{1,3}))?$/i.exec(plain.replace(/\s/g, ""));
  if (!found || !(found[2] + found[3])) return null;
  const digits = BigInt(found[2] + found[3]);
  const places = found[3].length - Number(found[4] || 0);
  return { digits: found[1] === "-" ? -digits : digits, places };
};

/** @param {string} power */
const ofRaised = (power) =>
  [...power].map((sign) => ("⁻⁰¹²³⁴⁵⁶⁷⁸⁹".includes(sign) ? "-0123456789"["⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(sign)] : sign)).join("");

/** Round half away from zero. @param {{digits: bigint, places: number}} number @param {number} places */
const rounded = ({ digits, places: own }, places) => {
  if (own <= places) return digits * 10n ** BigInt(places - own);
  const unit = 10n ** BigInt(own - places);
  const size = digits < 0n ? -digits : digits;
  const whole = (2n * size + unit) / (2n * unit);
  return digits < 0n ? -whole : whole;
};

/** What a typed number is beside a printed one. @param {string} typed @param {string} printed */
const verdict = (typed, printed) => {
  if (/∞/.test(printed)) return /^-?\s*(∞|inf)/i.test(typed.replace("−", "-").trim()) ? RIGHT : WRONG;
  const [ours, theirs] = [decimal(printed), decimal(typed)];
  if (!ours || !theirs) return WRONG;
  const off = rounded(theirs, ours.places) - ours.digits;
  if (off === 0n) return RIGHT;
  return off === 1n || off === -1n ? LAST_DIGIT : WRONG;
};

/** The places of a number in the section of its line. @param {string} of @param {Element} line */
const placesBeside = (of, line) => {
  const section = line.closest("section");
  return (places.get(of) || []).filter((place) => place.closest("section") === section);
};

/** Ask for the result of a line, and hide it beside it. @param {HTMLElement} line */
const ask = (line) => {
  const of = line.dataset.line || "";
  const result = all(".result", line)[0];
  const input = document.createElement("input");
  input.size = 9;
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.setAttribute("aria-label", `${name(of)}, the result`);
  asked.set(of, line);
  for (const place of placesBeside(of, line)) {
    place.dataset.written = place.textContent || "";
    place.textContent = UNKNOWN;
    place.classList.add("blank");
  }
  result.hidden = true;
  result.after(element("span", "asked", `${entry(of).sign} `), input);
  input.addEventListener("change", () => judge(line, input));
  input.addEventListener("keydown", ({ key }) => key === "Enter" && nextAsked(input)?.focus());
};

/** @param {HTMLElement} line @param {HTMLInputElement} input */
const judge = (line, input) => {
  const of = line.dataset.line || "";
  if (!input.value.trim() || !asked.has(of)) return;
  const said = verdict(input.value, entry(of).result || "");
  judged[said] = (judged[said] || 0) + 1;
  input.readOnly = true;
  all(".asked", line).forEach((sign) => sign.remove());
  answered(line);
  const told = element("span", `verdict ${said.split(" ").length > 1 ? "last-digit" : said}`, said);
  told.setAttribute("role", "status");
  line.append(" ", told);
  tell();
};

/** The next result to be typed. @param {HTMLInputElement} input */
const nextAsked = (input) => {
  const there = all(".working input", text);
  return there.slice(there.indexOf(input) + 1).find((next) => next.checkVisibility());
};

/** Show what was asked for. @param {HTMLElement} line */
const answered = (line) => {
  const of = line.dataset.line || "";
  for (const place of placesBeside(of, line)) {
    if (place.dataset.written === undefined) continue;
    place.textContent = place.dataset.written;
    delete place.dataset.written;
    place.classList.remove("blank");
  }
  asked.delete(of);
  all(".result", line)[0].hidden = false;
};

const tell = () => {
  const done = Object.values(judged).reduce((a, b) => a + b, 0);
  const parts = [RIGHT, LAST_DIGIT, WRONG].map((said) => `${judged[said] || 0} ${said}`);
  score.textContent = `${parts.join(", ")}, of ${done + asked.size}`;
};

const startTrying = () => {
  tryButton.setAttribute("aria-pressed", "true");
  document.body.classList.add("trying");
  walk([]);
  judged = {};
  for (const line of all("li.drawn", text)) {
    if (!line.closest("[data-for][hidden]") && !asked.has(line.dataset.line || "")) ask(line);
  }
  tell();
};

const stopTrying = () => {
  tryButton.setAttribute("aria-pressed", "false");
  document.body.classList.remove("trying");
  [...asked.values()].forEach(answered);
  for (const result of all("li.drawn .result", text)) {
    while (result.nextSibling) result.nextSibling.remove();
  }
  score.textContent = "";
};

tryButton.addEventListener("click", () =>
  tryButton.getAttribute("aria-pressed") === "true" ? stopTrying() : startTrying(),
);

// --- the start -----------------------------------------------------------------------------------

draw(text);
follow(String(data.token));
choose();
controls.hidden = false;
document.body.classList.add("ready");
