// @ts-check

// Choose the token to follow, the layer and head to show, and the sections without the mask.

/** @param {string} id */
const select = (id) => {
  const found = document.getElementById(id);
  return found instanceof HTMLSelectElement ? found : null;
};

const controls = the("controls", HTMLFormElement);
const unmasked = /** @type {HTMLInputElement | null} */ (document.getElementById("unmasked"));

/** Show the text for a token, counted from 0. @param {string} token */
const follow = (token) => {
  for (const block of all("[data-for]", text)) {
    block.hidden = !(block.dataset.for || "").split(" ").includes(token);
    if (!block.hidden) draw(block);
  }
  for (const table of all("table[data-first-token]", text)) {
    const row = Number(token) - Number(table.dataset.firstToken);
    all("tbody tr", table).forEach((each, i) => each.classList.toggle("followed", i === row));
  }
};

const EVERYTHING = 2;
const more = document.getElementById("more");

/** How much of the text is shown: 0 is the overview, 1 has one head. */
const levelShown = () => Number(select("level")?.value ?? EVERYTHING);

/** @param {number} level */
const showLevel = (level) => {
  const chosen = select("level");
  if (chosen) chosen.value = String(level);
};

/** Show the sections of the level, the layer and the head that are chosen. */
const choose = () => {
  if (["layer", "head"].some((what) => select(what)?.value)) {
    unfold();
    showLevel(EVERYTHING);
  }
  const level = levelShown();
  if (more) {
    more.hidden = level === EVERYTHING;
    for (const each of all("button", more)) each.hidden = Number(each.dataset.level) <= level;
  }
  for (const section of sections) {
    const others = ["layer", "head"].some((what) => {
      const wanted = select(what)?.value;
      const own = section.dataset[what];
      return wanted && own && own !== wanted;
    });
    const later = Number(section.dataset.level || 0) > level;
    section.hidden = others || later || ("unmasked" in section.dataset && !unmasked?.checked);
  }
};

/** Open what is folded away: all of it, or what a part of the text is in. @param {Element} [part] */
const unfold = (part) => {
  const folds = part ? [part.closest("details.fold")] : all("details.fold");
  for (const fold of folds) if (fold instanceof HTMLDetailsElement) fold.open = true;
};

/** Show the level, or all layers and heads, if a part of the text is hidden. @param {Element} part */
const uncover = (part) => {
  unfold(part);
  const section = part.closest(".step") || part.parentElement?.querySelector(".step");
  const { level = "0" } = section instanceof HTMLElement ? section.dataset : {};
  showLevel(Math.max(Number(level), levelShown()));
  choose();
  if (part.checkVisibility()) return;
  resetLayerAndHead();
  if (unmasked) unmasked.checked = true;
  choose();
};

const resetLayerAndHead = () => {
  for (const what of ["layer", "head"]) {
    const chosen = select(what);
    if (chosen) chosen.value = "";
  }
};

/** Show every level of the text, unfolded. */
const showEverything = () => {
  unfold();
  showLevel(EVERYTHING);
  choose();
};

more?.addEventListener("click", (event) => {
  const { level } = under(event, "button")?.dataset || {};
  if (!level) return;
  const before = sections.filter((section) => !section.hidden);
  showLevel(Number(level));
  choose();
  const added = sections.find((section) => !section.hidden && !before.includes(section));
  const part = added?.closest(".part-of-text");
  const opens = part?.querySelector(".step:not([hidden])") === added;
  (added?.closest("details") || (opens && part?.querySelector("h2")) || added)?.scrollIntoView();
  text.focus({ preventScroll: true });
});
select("level")?.addEventListener("change", resetLayerAndHead);
controls.addEventListener("submit", (event) => event.preventDefault());
controls.addEventListener("change", choose);
select("token")?.addEventListener("change", () => follow(select("token")?.value || ""));
window.addEventListener("beforeprint", () => unfold());
