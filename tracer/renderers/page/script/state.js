// @ts-check

// What is shown, in the address of the page: `#step-9&token=Alex&level=1&board`, so that it can be linked.

const CHOICES = ["token", "level", "layer", "head"];
const LEAST_MILLISECONDS = 250; // browsers allow few changes of the address
let noted = 0;
let waitingNote = 0;

/** The name of a choice in the address: the token's text, otherwise its value. @param {HTMLOptionElement} [option] */
const choiceName = (option) => (option?.parentElement?.id === "token" ? option.text : option?.value) || "";

/** What is shown, as in the address. */
const state = () => {
  const found = new URLSearchParams();
  const section = staged || sectionOfStop() || sectionInView();
  const isRead = section && !section.hidden && section.getBoundingClientRect().top < innerHeight * 0.75;
  if (staged || stopNumber || isRead) found.set(section.id, "");
  for (const id of CHOICES) {
    const name = choiceName(select(id)?.selectedOptions[0]);
    if (name) found.set(id, name);
  }
  if (unmasked?.checked) found.set("unmasked", "");
  if (board) found.set("board", lineByLine.checked ? "lines" : "");
  if (board && board.revealed > 1) found.set("line", String(board.revealed));
  if (stopNumber) found.set("walk", String(stopNumber));
  if (isTrying()) found.set("try", "");
  if (chosenSteps.size) found.set("steps", [...chosenSteps].join());
  return `#${found}`.replace(/=(?=&|$)/g, "").replaceAll("%2C", ",");
};

/** Write what is shown into the address; a page inside another document has none. */
const noteState = () => {
  clearTimeout(waitingNote);
  const early = noted + LEAST_MILLISECONDS - Date.now();
  if (early > 0) {
    waitingNote = setTimeout(noteState, early);
    return;
  }
  noted = Date.now();
  const hash = state();
  if (hash !== location.hash && location.protocol !== "about:") history.replaceState(history.state, "", hash);
};

/** @param {URLSearchParams} wanted */
const setChoices = (wanted) => {
  for (const id of CHOICES) {
    const chosen = select(id);
    const name = wanted.get(id) ?? (id === "layer" || id === "head" ? "" : null);
    const option = [...(chosen?.options || [])].find((each) => choiceName(each) === name);
    if (!chosen || !option || option.selected) continue;
    option.selected = true;
    chosen.dispatchEvent(new Event("change", { bubbles: true }));
  }
  if (unmasked) unmasked.checked = wanted.has("unmasked");
  choose();
};

/** Show what an address names: a part of the text, and unless it is a link of the text, all the rest. */
const arrive = (hash = location.hash) => {
  noted = Date.now(); // the address stays until all of it is shown
  const wanted = new URLSearchParams(hash.slice(1));
  const [first = ""] = wanted.keys();
  const named = document.getElementById(first);
  const part = named && named !== text && text.contains(named) ? named : null;
  const section = /** @type {HTMLElement | null} */ (part?.closest(".step") || null);
  if (part && wanted.size === 1 && board) {
    if (!section) return;
    if (section.hidden) uncover(section);
    putOnBoard(section);
    next.focus();
    return noteState();
  }
  if (part && wanted.size === 1 && stopNumber && walkTo(part)) return noteState();
  stopTrying();
  if (!wanted.has("walk")) endWalk();
  if (wanted.has("board")) takeOffBoard(); // and stay in full screen
  else endBoard();
  if (wanted.size > (part ? 1 : 0)) {
    setChoices(wanted);
    chooseSteps((wanted.get("steps") || "").split(","));
  }
  if (part && !wanted.has("walk")) uncover(part);
  if (section) markIn(section, part?.id);
  lineByLine.checked = wanted.get("board") === "lines";
  const mode = ["board", "try"].find((each) => wanted.has(each));
  const isHidden = sections.some((each) => each.hidden && chosenSteps.has(stepName(each)));
  if (mode && (isHidden || !wanted.has("level"))) showEverything();
  if (mode === "board") startBoard(section || sectionInView(), Number(wanted.get("line")) || 1);
  else if (mode) startTrying(section || undefined);
  else if (wanted.has("walk")) startWalk(Number(wanted.get("walk")) || 1);
  else part?.scrollIntoView();
  if (location.hash) noteState();
};

document.addEventListener("click", (event) => {
  const hash = under(event, "a[href^='#']")?.getAttribute("href");
  if (!hash) return;
  const isInline = location.protocol === "about:"; // its links would lead to the page around it
  if (isInline) event.preventDefault();
  if (hash === location.hash) arrive(hash); // it fires no hashchange event
  else if (isInline) location.hash = hash;
});
// What is shown may be written into the address before this event comes: only the event still knows the link.
window.addEventListener("hashchange", (event) => arrive(new URL(event.newURL).hash));
for (const kind of ["scroll", "change", "click", "keyup"]) window.addEventListener(kind, noteState, { passive: true });
