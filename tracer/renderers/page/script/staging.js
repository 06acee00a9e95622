// @ts-check

// One section alone on the screen, and beside it the numbers that its lines are computed from.

const aside = the("operands", HTMLElement);
/** The section on the stage. @type {HTMLElement | null} */
let staged = null;
/** The worked lines whose operands stand beside the section. @type {HTMLElement | null} */
let explained = null;

/** The blocks of a section for the followed token, in order. @param {Element} section */
const blocksOf = (section) =>
  /** @type {HTMLElement[]} */ (
    [...section.children].flatMap((child) => {
      if (child.id || child.matches("[data-for][hidden]")) return []; // a heading has an id
      return child.matches("[data-for]") ? [...child.children] : [child];
    })
  );

/** The lines of a block that compute a number. @param {Element} block */
const linesOf = (block) => all("li.drawn", block).filter((line) => !line.closest("[data-for][hidden]"));

/** @param {HTMLElement} section @param {"board" | "trying"} kind */
const putOnStage = (section, kind) => {
  drawWithin(section);
  staged = section;
  document.body.classList.add("staged", kind);
  section.classList.add("current");
  for (const block of blocksOf(section).filter(({ classList }) => classList.contains("working"))) {
    for (const { table } of valuesOf(block)) {
      const restated = table?.closest("section") === section && table.closest(".scroll");
      if (restated) restated.classList.add("restated");
    }
  }
  window.scrollTo(0, 0);
};

const leaveStage = () => {
  speak("");
  layOut(null);
  staged?.classList.remove("current");
  all(".restated", staged || text).forEach((block) => block.classList.remove("restated"));
  document.body.classList.remove("staged", "board", "trying");
  staged = null;
};

/** The matrix of a value that is shown for this token. @param {string[]} operands numbers of it */
const matrixOf = (operands) =>
  operands
    .flatMap((of) => places.get(of) || [])
    .filter((place) => place.matches("main section td") && !place.closest("[data-for][hidden], .bars"))
    .map((cell) => cell.closest("table"))[0];

/**
 * The values that the lines of a block need, each with its numbers, and its matrix unless the
 * section computes it: then the lines above show it.
 * @param {Element} block
 */
const valuesOf = (block) => {
  const section = block.closest("section") || block;
  const computed = new Set(linesOf(section).map((line) => valueOf(line.dataset.line || "")));
  const results = new Set(linesOf(block).map((line) => line.dataset.line || ""));
  const needed = [...new Set([...results].flatMap(operandsOf))].filter((of) => !results.has(of));
  return [...new Set(needed.map(valueOf))].map((value) => {
    const operands = needed.filter((of) => valueOf(of) === value);
    return { operands, table: computed.has(value) ? undefined : matrixOf(operands) };
  });
};

/** Put what the lines of a block need beside them. @param {HTMLElement | null} block */
const layOut = (block) => {
  if (block === explained) return;
  explained = block;
  putBeside(block ? valuesOf(block).map(operandsBeside) : []);
};

/** @param {HTMLElement[]} parts */
const putBeside = (parts) => {
  forget();
  for (const part of all(":scope > *", aside)) discard(part);
  aside.append(...parts);
  all("[data-of]", aside).forEach(remember);
};

/**
 * The matrix of a value, or those of its numbers that are needed, each with its name.
 * @param {{operands: string[], table?: HTMLElement | null}} value
 */
const operandsBeside = ({ operands, table }) => {
  const whole = table?.closest(".scroll");
  if (whole instanceof HTMLElement) return copyOf(whole);
  const numbers = operands.map((of) => [`${nameOf(of)} = `, numberOf(of, entryOf(of).number)]);
  return element("p", "", ...numbers.map((number) => element("span", "operand", ...number)));
};

/** A table to be shown a second time. @param {HTMLElement} table */
const copyOf = (table) => {
  const copy = /** @type {HTMLElement} */ (table.cloneNode(true));
  copy.classList.remove("restated");
  for (const part of all("[role], [aria-hidden], [tabindex]", copy)) {
    for (const name of ["role", "aria-hidden", "tabindex"]) part.removeAttribute(name);
  }
  return copy;
};

/** Highlight what a line is computed from. @param {string} of */
const lightOperands = (of) => {
  const operands = operandsOf(of);
  const values = [...new Set(operands.map(valueOf))];
  for (const each of operands) light(each, "lit", `source-${values.indexOf(valueOf(each)) % COLORS}`);
};

/** The first section that can be seen. */
const sectionInView = () => {
  const shown = sections.filter((section) => !section.hidden);
  return shown.find((section) => section.getBoundingClientRect().bottom > innerHeight / 4) || shown[0];
};

/** The section to put on the stage: in the overview, which has few steps, the first of everything. */
const sectionToBegin = () => {
  if (levelShown() > 0) return sectionInView();
  showEverything();
  return sections[0];
};

// --- the keys at the bottom, which lead on and back

/**
 * What the keys lead through: the parts of a section on the board, or the stops of a walk.
 * @typedef {{by: (more: number) => void, to: (key: "Home" | "End") => void, end: () => void}} Pages
 */
/** @type {Pages | null} */
let pages = null;
const keysBelow = the("board-keys", HTMLElement);
const next = the("next", HTMLButtonElement);
const placeShown = the("board-place", HTMLElement);
const smallMap = the("board-map", HTMLElement);
const ONWARD = [" ", "Enter", "ArrowRight", "ArrowDown", "PageDown"];
const BACKWARD = ["Backspace", "ArrowLeft", "ArrowUp", "PageUp"];

/** Let the keys lead through something, or hide them. @param {Pages | null} its */
const leadThrough = (its) => {
  pages = its;
  keysBelow.hidden = !its;
  if (its) next.focus();
  else smallMap.replaceChildren();
};

/** Mark a box, and draw its diagram small. @param {HTMLElement} [box] */
const showOnMap = (box) => {
  markBox(box);
  const drawing = box?.closest("svg") || diagrams[0]?.querySelector("svg");
  smallMap.replaceChildren(...(drawing ? [drawing.cloneNode(true)] : []));
  all("a", smallMap).forEach((box) => box.setAttribute("tabindex", "-1"));
};

document.addEventListener("keydown", (event) => {
  if (!pages || event.defaultPrevented) return;
  const { target: on, key } = event;
  const pressed = on instanceof Element && on.matches("button, input, a") && [" ", "Enter"].includes(key);
  if (key === "Escape") pages.end();
  else if (on === document.getElementById("typed")) return; // of a number that is being changed
  else if (key === "Home" || key === "End") pages.to(key);
  else if (!pressed && ONWARD.includes(key)) pages.by(1);
  else if (!pressed && BACKWARD.includes(key)) pages.by(-1);
  else return;
  event.preventDefault();
});
next.addEventListener("click", () => pages?.by(1));
the("before", HTMLButtonElement).addEventListener("click", () => pages?.by(-1));
the("end", HTMLButtonElement).addEventListener("click", () => pages?.end());
