// @ts-check

// Walk from a number to its operands, to their operands, and back.

const trail = the("trail", HTMLOListElement);

/** The numbers that were clicked, up to the one that is shown. @type {string[]} */
let way = [];

const reached = () => way[way.length - 1];

/** @param {string[]} numbers */
const walk = (numbers) => {
  way = numbers;
  trail.replaceChildren(...way.map(crumb));
  if (way.length) show(reached());
  else forget();
};

/** @param {string} of @param {number} i */
const crumb = (of, i) => {
  const made = button("", nameOf(of));
  made.dataset.crumb = String(i);
  if (i === way.length - 1) made.setAttribute("aria-current", "true");
  return element("li", "", made);
};

/** Go to the place of a number in its matrix, or to its name in the trail. @param {string} of */
const goTo = (of) => {
  const cell = cellOf(of);
  if (!cell || (stopNumber && !aside.contains(cell))) return all("[aria-current]", trail).forEach((current) => current.focus());
  uncover(cell);
  cell.scrollIntoView({ block: "center", inline: "center" });
  focusOn(cell);
  makeRoom(cell);
};

/** @param {string[]} numbers */
const travel = (numbers) => {
  walk(numbers);
  if (numbers.length) goTo(reached());
};

/** Start a new trail at a cell, unless the current trail ends there. @param {HTMLElement} cell */
const begin = (cell) => {
  const { of = "" } = cell.dataset;
  if (staged || (of === reached() && of === pointed)) return;
  walk([of]);
  makeRoom(cell);
};

const leave = () => {
  const inside = panel.contains(document.activeElement);
  const before = [...way].reverse().find(cellOf);
  if (inside && before) goTo(before);
  else if (inside) text.focus();
  walk([]);
};

text.addEventListener("focusin", (event) => {
  const number = under(event, "td[data-of], .number[tabindex]");
  if (number) begin(number);
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !under(event, ".number[tabindex]")) return;
  event.preventDefault(); // else it would press the button that it leads to
  all("[data-go]", linePanel)[0]?.focus();
});
text.addEventListener("mousedown", (event) => {
  const cell = under(event, "td[data-of]");
  if (!cell) return;
  event.preventDefault();
  focusOn(cell);
  begin(cell);
});
text.addEventListener("click", (event) => {
  const number = under(event, "span[data-of], .plot [data-of]");
  if (number && !staged) travel([number.dataset.of || ""]);
});
panel.addEventListener("click", (event) => {
  const go = under(event, "[data-go]");
  const crumb = under(event, "[data-crumb]");
  if (go) travel([...way, go.dataset.go || ""]);
  else if (crumb) travel(way.slice(0, Number(crumb.dataset.crumb) + 1));
  else if (under(event, "#close")) leave();
});
document.addEventListener("keydown", (event) => {
  if (staged || event.target instanceof HTMLInputElement) return;
  if (event.key === "Escape") leave();
  if (event.key === "Backspace" && way.length) {
    event.preventDefault();
    travel(way.slice(0, -1));
  }
});
