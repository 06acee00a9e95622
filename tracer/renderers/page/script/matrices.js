// @ts-check

// By keyboard, Tab reaches what scrolls, and one cell of each matrix; arrows reach the others, Enter what it was made of.

/** Whether a part of the page can be scrolled depends on its size and on the window's. */
const resized = new ResizeObserver((seen) => seen.forEach(({ target }) => reachScrolled(/** @type {HTMLElement} */ (target))));

/** @param {HTMLElement} area */
const reachScrolled = (area) => {
  const scrolls = area.scrollWidth > area.clientWidth || (area === aside && area.scrollHeight > area.clientHeight);
  area.classList.toggle("scrolls", scrolls);
  // What can be reached in it scrolls it.
  if (scrolls && !area.querySelector("[tabindex='0'], a")) area.tabIndex = 0;
  else area.removeAttribute("tabindex");
};

const reachScrollAreas = () => {
  resized.disconnect();
  for (const area of all(".scroll, .drawing, .code pre, #operands", text)) resized.observe(area);
};

const reachCells = () => {
  for (const table of all("table.matrix", text)) {
    const first = table.querySelector("td[data-of]");
    if (!(first instanceof HTMLElement) || table.querySelector("td[tabindex='0']")) continue;
    table.setAttribute("role", "grid"); // which has its name from its label alone
    table.querySelector("caption")?.setAttribute("aria-hidden", "true");
    first.tabIndex = 0;
  }
};

/** @param {HTMLElement} cell */
const focusOn = (cell) => {
  const table = /** @type {HTMLTableElement} */ (cell.closest("table"));
  all("td[tabindex]", table).forEach((other) => (other.tabIndex = -1));
  cell.tabIndex = 0;
  cell.focus({ preventScroll: true });
};

/** The cell beside another one. @param {HTMLTableCellElement} cell @param {string} key */
const beside = (cell, key) => {
  const row = /** @type {HTMLTableRowElement} */ (cell.parentElement);
  const body = /** @type {HTMLTableSectionElement} */ (row.parentElement);
  const numbers = [...row.cells].filter((each) => each.dataset.of);
  const column = numbers.indexOf(cell);
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
      return body.rows[row.sectionRowIndex - 1]?.cells[cell.cellIndex];
    case "ArrowDown":
      return body.rows[row.sectionRowIndex + 1]?.cells[cell.cellIndex];
    default:
      return undefined;
  }
};

text.addEventListener("keydown", (event) => {
  const cell = under(event, "td[data-of]");
  if (!(cell instanceof HTMLTableCellElement) || staged) return;
  const next = beside(cell, event.key);
  if (next) {
    event.preventDefault();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    focusOn(next);
  } else if (event.key === "Enter") {
    event.preventDefault(); // else it would press the button that it leads to
    begin(cell);
    all("[data-go]", linePanel)[0]?.focus();
  }
});
