// @ts-check

// Put a new page in place of this one: only what differs is replaced, and changed numbers are marked.

/**
 * Change an element as it was sent, and that of the page, to another form of it.
 * @param {Element} before @param {Element} next
 */
const changeElement = (before, next) => {
  const now = onPage.get(before);
  if (!now || before.isEqualNode(next)) return;
  changeAttributes(now, before, next);
  const [old, fresh] = [before, next].map((each) => [...each.children]);
  const there = old.map((each) => onPage.get(each));
  const whole = now.children.length === old.length && there.every((each) => each?.parentNode === now);
  if (!whole || hasWords(before) || hasWords(next)) {
    now.replaceChildren(...document.importNode(next, true).childNodes);
    before.replaceChildren(...next.cloneNode(true).childNodes);
    match(before, now);
    return;
  }
  const kept = new Map(paired(old, fresh).map(([i, j]) => [j, old[i]]));
  const stays = new Set(kept.values());
  for (const each of old) if (!stays.has(each)) [each, onPage.get(each)].forEach((gone) => gone?.remove());
  let last = /** @type {Element | null} */ (null);
  fresh.forEach((each, j) => {
    const same = kept.get(j);
    if (same) changeElement(same, each);
    last = same || insert(each, before, last);
  });
};

/** Insert a new element, both as it was sent and into the page. @param {Element} each @param {Element} into @param {Element | null} behind */
const insert = (each, into, behind) => {
  const sent = /** @type {Element} */ (each.cloneNode(true));
  const shown = document.importNode(each, true);
  const [before, now] = behind ? [behind, onPage.get(behind)] : [null, null];
  if (before && now) [before.after(sent), now.after(shown)];
  else [into.prepend(sent), onPage.get(into)?.prepend(shown)];
  match(sent, shown);
  return sent;
};

/** Whether text stands in an element itself. @param {Element} part */
const hasWords = (part) =>
  [...part.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.textContent?.trim());

/**
 * The elements of two lists that are the same, by their indices: by id, or with the same content;
 * all of them where only the content differs.
 * @param {Element[]} old @param {Element[]} fresh @returns {number[][]}
 */
const paired = (old, fresh) => {
  const same = old.length === fresh.length && old.every((each, i) => each.tagName === fresh[i].tagName && each.id === fresh[i].id);
  if (same) return old.map((_, i) => [i, i]);
  const names = [old, fresh].map((list) => list.map((each) => each.id || inside(each) || each.outerHTML));
  /** @type {number[][]} */
  const pairs = [];
  let i = 0;
  names[1].forEach((name, j) => {
    const found = names[0].indexOf(name, i);
    if (found < 0) return;
    pairs.push([found, j]);
    i = found + 1;
  });
  return pairs;
};

/** The id of the first named element inside, which names a part of the text. @param {Element} part */
const inside = (part) => part.querySelector("[id]")?.id;

/** What the script has added to the element stays. @param {Element} now @param {Element} before @param {Element} next */
const changeAttributes = (now, before, next) => {
  const names = new Set([...before.getAttributeNames(), ...next.getAttributeNames()]);
  before.classList.forEach((each) => now.classList.remove(each));
  next.classList.forEach((each) => now.classList.add(each));
  for (const name of names) {
    const value = next.getAttribute(name);
    if (value === before.getAttribute(name)) continue;
    for (const each of name === "class" ? [before] : [before, now])
      value === null ? each.removeAttribute(name) : each.setAttribute(name, value);
  }
};

/** Lines are written anew from the data, also those whose text for this token was not sent. */
const undraw = () => {
  for (const line of all("li.drawn", text)) {
    line.classList.remove("drawn");
    line.replaceChildren(...all(".label, .front", line));
  }
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
  undraw();
  changeElement(sentText, fresh);
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
