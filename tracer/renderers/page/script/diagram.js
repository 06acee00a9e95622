// @ts-check

// The diagram follows the text: the step that is read is marked in it, and the way of a number is lit.

const besideText = matchMedia("(min-width: 80rem)");
/** @type {HTMLElement[]} */
let diagrams = [];
/** @type {HTMLElement[]} */
let boxes = [];
/** @type {HTMLElement[]} */
let wires = [];
/** The cell of each number that a heat map shows. @type {Map<string | undefined, HTMLElement>} */
let cellIn = new Map();
/** The box of each section of a step. @type {Map<string, HTMLElement>} */
let boxOf = new Map();
/** The sources whose numbers a box holds. @type {Map<HTMLElement, number[]>} */
let held = new Map();

/** @param {string} [names] */
const namesIn = (names) => (names || "").split(" ").filter(Boolean);

/** Look up the parts of the diagrams, which a live page may replace. */
const readDiagrams = () => {
  [diagrams, boxes, wires] = [".diagram", ".diagram .box", ".diagram .wire"].map((each) => all(each, text));
  cellIn = new Map(all(".diagram [data-number]", text).map((cell) => [cell.dataset.number, cell]));
  boxOf = new Map(boxes.flatMap((box) => namesIn(box.dataset.sections).map((id) => [id, box])));
  held = new Map(boxes.map((box) => [box, namesIn(box.dataset.values).map(Number)]));
  diagrams.forEach((diagram) => reachBox(diagram.querySelector(".box")));
  watchReading();
};

// --- the way of a number

/** A number and all that it is computed from. @param {string} of */
const wayOf = (of) => {
  const found = new Set([of]);
  for (const each of found) {
    const { work = [], is } = entryOf(each);
    for (const piece of work) {
      if (typeof piece !== "string") piece.slice(1).forEach((operand) => found.add(operand));
    }
    if (is) found.add(is);
  }
  return found;
};

/** The parts of the diagrams that are lit, with their class. @type {[Element, string][]} */
let onWay = [];

/** Light the boxes and the cells on the way of a number. @param {string} of */
const lightWay = (of) => {
  const numbers = wayOf(of);
  const values = new Set([...numbers].map(valueOf));
  for (const [box, own] of held) {
    if (own.some((value) => values.has(value))) onWay.push([box, "on-way"]);
    if (own.includes(valueOf(of))) onWay.push([box, "holds"]);
  }
  const steps = new Set(onWay.map(([box]) => box instanceof SVGElement && box.dataset.step));
  for (const wire of wires) {
    if (!steps.has(wire.dataset.from) || !steps.has(wire.dataset.to)) continue;
    onWay.push([wire, "on-way"]);
    wire.parentNode?.append(wire); // over the others
  }
  for (const number of numbers) {
    const cell = cellIn.get(number);
    if (cell) onWay.push([cell, "way"]);
  }
  const own = cellIn.get(of);
  if (own) onWay.push([own, "pointed"]);
  onWay.forEach(([part, kind]) => part.classList.add(kind));
  diagrams.forEach((diagram) => diagram.classList.add("lit"));
};

const darken = () => {
  diagrams.forEach((diagram) => diagram.classList.remove("lit"));
  onWay.forEach(([part, kind]) => part.classList.remove(kind));
  onWay = [];
};

text.addEventListener("mousemove", (event) => {
  const number = under(event, "[data-number]")?.dataset.number;
  if (number && number !== pointed && !way.length && !board) show(number);
});

// --- by keyboard, Tab reaches one box of a diagram, and arrows the others

/** @param {Element | null} box */
const reachBox = (box) => {
  for (const other of all(".box", box?.closest(".diagram") || aside)) other.setAttribute("tabindex", "-1");
  box?.setAttribute("tabindex", "0");
};

const TO_BOXES = new Map([["ArrowUp", 1], ["ArrowRight", 1], ["ArrowDown", -1], ["ArrowLeft", -1]]);

text.addEventListener("keydown", (event) => {
  const box = under(event, ".box");
  const own = all(".box", box?.closest(".diagram") || aside);
  const next = own[own.findIndex((each) => each === box) + (TO_BOXES.get(event.key) || 0)];
  if (!box || !next || next === box) return;
  event.preventDefault();
  reachBox(next);
  next.focus();
});

// --- the step that is read

/** Mark the box of a section, or of one of its steps. @param {Element} section @param {string} [step] */
const markIn = (section, step) => {
  const own = boxes.filter((each) => namesIn(each.dataset.sections).includes(section.id));
  const isMarked = own.some((each) => each.hasAttribute("aria-current"));
  if (step || !isMarked) markBox(own.find((each) => `step-${each.dataset.step}` === step) || boxOf.get(section.id));
};

/** Mark a box, and bring it into view. @param {Element} [box] */
const markBox = (box) => {
  if (!box || box.hasAttribute("aria-current")) return;
  boxes.forEach((other) => other.removeAttribute("aria-current"));
  box.setAttribute("aria-current", "step");
  reachBox(box);
  for (const diagram of diagrams) diagram.classList.toggle("beside", diagram.contains(box));
  center(box);
};

/** Scroll the drawing, and not the page, unless a box is in view. @param {Element} box @param {ScrollBehavior} [behavior] */
const center = (box, behavior = "auto") => {
  const drawing = /** @type {Element} */ (box.closest(".drawing"));
  const [inner, outer] = [box, drawing].map((each) => each.getBoundingClientRect());
  const inView = inner.top > outer.top && inner.bottom < outer.bottom - inner.height;
  const left = inner.left < outer.left || inner.right > outer.right ? inner.left - outer.left - outer.width / 3 : 0;
  drawing.scrollBy({ top: inView ? 0 : inner.top - outer.top - outer.height / 2, left, behavior });
};

/** Show the step that is read; before the first, the input of the followed token. @param {Element} diagram */
const showRead = (diagram) => {
  const at = [".box[aria-current]", ".box:has(.followed)", ".box"].map((each) => diagram.querySelector(each));
  const box = at.find(Boolean);
  if (box) center(box, "instant");
};

/** @type {IntersectionObserver | null} */
let reading = null;

/** The section that is read is that where a link to it ends: below what stands at the top. */
const watchReading = () => {
  reading?.disconnect();
  if (!sections.length) return;
  const line = parseFloat(getComputedStyle(sections[0]).scrollMarginTop) + 4;
  reading = new IntersectionObserver(
    (seen) => seen.filter((each) => each.isIntersecting).forEach((each) => markIn(each.target)),
    { rootMargin: `-${line}px 0px ${line + 4 - innerHeight}px` },
  );
  for (const section of sections) reading.observe(section);
};

// --- the followed token, and where the diagram is open

/** Mark the row of a token in each map. @param {string} token */
const markRow = (token) => {
  for (const row of all(".diagram .followed", text)) {
    const at = namesIn(row.parentElement?.dataset.rows)[Number(token)];
    row.setAttribute("visibility", at === "-" ? "hidden" : "visible");
    if (at !== "-") row.setAttribute("y", at);
  }
};
select("token")?.addEventListener("change", () => markRow(select("token")?.value || ""));

/** Folded away on a telephone; open beside the text, and on paper. @param {boolean} open */
const openDiagrams = (open) => all("details.diagram", text).forEach((each) => each.toggleAttribute("open", open));

openDiagrams(!matchMedia("(max-width: 40rem)").matches);
all(".diagram", text).forEach(showRead);
text.addEventListener("toggle", ({ target }) => target instanceof Element && target.matches(".diagram") && showRead(target), true);
besideText.addEventListener("change", ({ matches }) => matches && openDiagrams(true));
window.addEventListener("beforeprint", () => openDiagrams(true));
