// @ts-check

// Put the text of a new page in place of this one, and mark changed numbers.

/** What scripts hold stays in the text. */
const HELD = ["operands", "more", "dragged", "guide"];

/** The name of what can be folded, the same in each page. @param {Element} fold */
const nameOfFold = (fold) => `${fold.closest("[id]")?.id} ${fold.querySelector("summary")?.textContent}`;

/** Parts of the text that may be scrolled. */
const scrollAreas = () => all(".scroll, .drawing", text);

/** Show another text; what is open or scrolled stays so. @param {Element} fresh */
const exchangeText = (fresh) => {
  const scrolled = scrollAreas().map(({ scrollLeft, scrollTop }) => ({ left: scrollLeft, top: scrollTop }));
  const open = new Map(all("details", text).map((fold) => [nameOfFold(fold), fold.hasAttribute("open")]));
  const next = document.importNode(fresh, true);
  for (const id of HELD) {
    const [now, then] = [document.getElementById(id), all(`#${id}`, next)[0]];
    if (!now !== !then) return location.reload();
    Object.assign(now?.dataset || {}, then?.dataset);
    then?.replaceWith(/** @type {HTMLElement} */ (now));
  }
  text.replaceChildren(...next.childNodes);
  dragged?.replaceChildren(); // its number may be there no longer
  toDraw.clear();
  inSight.clear();
  for (const fold of all("details", text)) fold.toggleAttribute("open", open.get(nameOfFold(fold)) ?? fold.hasAttribute("open"));
  scrollAreas().forEach((area, i) => (scrolled[i]?.left || scrolled[i]?.top) && area.scrollTo(scrolled[i]));
};

/** Choices as in the new page; the one that is chosen stays, if it is there. @param {Document} next */
const changeChoices = (next) => {
  for (const id of ["token", "layer", "head"]) {
    const [now, then] = [select(id), next.getElementById(id)];
    if (!now !== !then) return location.reload();
    if (!now || !(then instanceof HTMLSelectElement)) continue;
    const { value } = now;
    now.replaceChildren(...[...then.options].map((option) => document.importNode(option, true)));
    if ([...now.options].some((option) => option.value === value)) now.value = value;
  }
};

/** The width of the widest diagram, for the style. */
const changeWidth = () => {
  const widths = all(".drawing svg", text).map((each) => Number(each.getAttribute("width")));
  document.documentElement.style.setProperty("--drawing", `${Math.round(Math.max(0, ...widths))}px`);
};

/** Mark the numbers that differ; those that the page has changed itself stay marked. @param {Map<string, string>} before */
const markChanges = (before) => {
  const changed = [...numbersByKey()].filter(([name, number]) => (before.get(name) ?? number) !== number);
  if (changed.length) earlier.clear();
  for (const [name] of changed) earlier.set(ofKey(name), before.get(name) || "");
  for (const [of, old] of earlier) for (const place of places.get(of) || []) markPlace(place, old, printedAt(of));
};

/** Show a new page in place of this one. @param {string} html */
const replace = (html) => {
  // Its style is that of this page but for the width of the diagram, and the policy allows only this one.
  const next = new DOMParser().parseFromString(html.replace(/<style>[^]*?<\/style>/, ""), "text/html");
  const fresh = next.getElementById("text");
  /** @type {Data} */
  const its = JSON.parse(next.getElementById("data")?.textContent || "");
  if (!fresh || !data.live || !its.live) return location.reload();
  const before = numbersByKey();
  const walked = way.map(keyOf);
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const focus = focused && text.contains(focused) && focused.dataset.of ? keyOf(focused.dataset.of) : "";
  const find = anchor();
  const top = find()?.getBoundingClientRect().top || 0;
  const onBoard = board && staged?.id;
  stopTrying();
  takeOffBoard();
  outcomes.clear();
  forget();
  unmarkChanges();
  exchangeText(fresh);
  changeWidth();
  adopt(its);
  sections.splice(0, sections.length, ...all("section.step"));
  changeChoices(next);
  document.title = next.title;
  const [heading, other] = [document, next].map((each) => each.querySelector("h1"));
  if (heading && other) heading.textContent = other.textContent;
  places.clear();
  all("[data-of]", text).forEach(remember);
  arrange();
  markChanges(before);
  walk(walked.map(ofKey).filter(Boolean));
  if (focus && !text.contains(document.activeElement)) cellOf(ofKey(focus))?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("replaced", { detail: next }));
  if (onBoard) putOnBoard(sections.find(({ id }) => id === onBoard) || sections[0], Infinity);
  else keepAt(find(), top);
};
