// @ts-check

// Guided: a walk through the calculation, one stop for each kind of step, with one number worked.

/** The stop that is shown, counted from 1; 0 without a walk. */
let stopNumber = 0;
const FLIGHT = 600; // milliseconds
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The stops for the followed token. */
const stopsHere = () => all(".stops:not([hidden]) > .stop", text);

/** The section that explains the step of a stop. @param {HTMLElement} [stop] */
const sectionOfStop = (stop = stopsHere()[stopNumber - 1]) =>
  /** @type {HTMLElement | null} */ (document.getElementById(stop?.dataset.section || "")?.closest(".step") || null);

/** @param {number} number */
const showStop = (number) => {
  const there = stopsHere();
  stopNumber = Math.min(Math.max(number, 1), there.length);
  there.forEach((each, i) => (each.hidden = i !== stopNumber - 1));
  const stop = there[stopNumber - 1];
  const { shows = "", step } = stop.dataset;
  const isLast = stopNumber === there.length;
  walk([]);
  putBeside([...(shows ? matricesOf(shows) : []), ...(isLast ? outcome() : [])]);
  if (shows) show(shows);
  showOnMap(boxes.find((box) => box.dataset.step === step));
  reachCells();
  reachScrollAreas();
  for (const area of aside.children) area.querySelector(".here, .lit")?.scrollIntoView({ block: "nearest", inline: "center" });
  window.scrollTo(0, 0);
  if (shows) fly(shows);
  next.hidden = isLast;
  if (isLast) the("end", HTMLButtonElement).focus();
  placeShown.textContent = `${stopNumber} of ${there.length}`;
  speak([placeShown, ...stop.children, linePanel].map((each) => each.textContent).join(" "));
  document.dispatchEvent(new CustomEvent("laid-out"));
};

/** The matrices that a number is computed from, or the one that it is taken from; its own. @param {string} of */
const matricesOf = (of) => {
  const original = originalOf(of);
  const values = [...(original === of ? operandsOf(of) : [original]), of].map(valueOf);
  return [...new Set(values)].map(matrixOfValue);
};

/** The bars of the first picture: the next words, or the vector before and after. */
const outcome = () => all("#picture .scroll:has(.bars)").filter((bars) => !bars.closest("[data-for][hidden]")).map(copyOf);

/** The numbers of a value that are on the page. @param {number} value */
const matrixOfValue = (value) => {
  const { symbol, labels } = data.values[value];
  if (!labels.length) return element("p", "follows", `${symbol} = `, numberOf(`${value}:`, printedAt(`${value}:`)));
  const [rows, columns] = labels.length > 1 ? labels : [[""], labels[0]];
  const names = rows.map((_, i) => columns.map((_, j) => `${value}:${[i, j].slice(2 - labels.length).join()}`));
  const known = names.map((row) => row.map((of) => !!entryOf(of)));
  const shown = [...columns.keys()].filter((j) => known.some((row) => row[j]));
  const lines = [...rows.keys()].filter((i) => known[i].includes(true)).map((i) =>
    element("tr", "", header("row", rows[i]), ...shown.map((j) => numberCell(known[i][j] ? names[i][j] : ""))),
  );
  const head = element("tr", "", element("td", ""), ...shown.map((j) => header("col", columns[j])));
  const table = element("table", "matrix", element("caption", "", element("b", "", symbol)), element("thead", "", head), element("tbody", "", ...lines));
  table.setAttribute("aria-label", symbol);
  return element("div", "scroll", table);
};

/** @param {"row" | "col"} scope @param {string} label */
const header = (scope, label) =>
  label ? Object.assign(element("th", "", label), { scope, dir: "auto" }) : element("td", "");

/** @param {string} of nothing for a number that the page does not have */
const numberCell = (of) => {
  const cell = element("td", "", of && printedAt(of));
  if (of) cell.dataset.of = of;
  return cell;
};

/** Let the operands of a number fly to its cell, which then shows it. @param {string} of */
const fly = (of) => {
  const result = cellOf(of);
  if (still.matches || !result) return;
  const to = result.getBoundingClientRect();
  for (const operand of all(".lit", aside)) {
    const from = operand.getBoundingClientRect();
    const flying = element("span", `${operand.className} flying`, operand.textContent || "");
    flying.setAttribute("aria-hidden", "true");
    document.body.append(flying);
    const way = [from, to].map(({ left, top }) => ({ transform: `translate(${left}px, ${top}px)` }));
    flying.animate([way[0], { ...way[1], opacity: 0.2 }], { duration: FLIGHT, easing: "ease-in-out" }).finished.finally(() => flying.remove());
  }
  result.animate([{ color: "transparent" }, { color: "transparent", offset: 0.8 }, {}], FLIGHT);
};

/** Go to the stop of a part of the text, if it has one; return whether it does. @param {Element} part */
const walkTo = (part) => {
  const number = 1 + stopsHere().findIndex(({ dataset }) => dataset.section === part.id);
  if (number) showStop(number);
  return number > 0;
};

/** @param {number} number */
const startWalk = (number) => {
  if (!stopsHere().length) return;
  document.body.classList.add("guided");
  leadThrough({ by: (more) => showStop(stopNumber + more), to: (key) => showStop(key === "End" ? Infinity : 1), end: endWalk });
  showStop(number);
};

/** Leave the walk, for the section in the text that it has come to. */
const endWalk = () => {
  if (!stopNumber) return;
  const section = sectionOfStop();
  stopsHere()[stopNumber - 1].hidden = true;
  stopNumber = 0;
  document.body.classList.remove("guided");
  walk([]);
  putBeside([]);
  next.hidden = false;
  leadThrough(null);
  if (!section) return;
  uncover(section);
  section.scrollIntoView();
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
};

const guide = document.getElementById("guide");
if (guide) guide.hidden = false;
document.getElementById("walk-through")?.addEventListener("click", () => startWalk(1));
aside.addEventListener("mouseleave", (event) => {
  const { shows } = stopsHere()[stopNumber - 1]?.dataset || {};
  const moved = event.movementX || event.movementY; // else the matrix has moved
  if (shows && moved && !way.length) show(shows);
});
document.addEventListener("replaced", () => {
  if (stopNumber) showStop(stopNumber);
});
