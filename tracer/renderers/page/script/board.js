// @ts-check

// Board: one section fills the screen, and each key press reveals its next line.

/** A section, its pieces, and how many of them are revealed. */
/** @type {{at: number, pieces: HTMLElement[], revealed: number} | null} */
let board = null;
const boardButton = the("board", HTMLButtonElement);
const next = the("next", HTMLButtonElement);
const boardKeys = the("board-keys", HTMLElement);
const ONWARD = [" ", "Enter", "ArrowRight", "ArrowDown", "PageDown"];
const BACKWARD = ["Backspace", "ArrowLeft", "ArrowUp", "PageUp"];

/** The pieces to reveal in order: of each line its sides, then its result. @param {Element} section */
const piecesOf = (section) =>
  all("p, .formula, .scroll, .working > li, .working .result, img", section).filter(
    (piece) => !piece.closest("[hidden]") && !piece.parentElement?.closest(".scroll"),
  );

/** @param {number} at @param {boolean} whole */
const putOn = (at, whole) => {
  uncoverPieces();
  const pieces = piecesOf(sections[at]);
  sections.forEach((section, i) => section.classList.toggle("current", i === at));
  board = { at, pieces, revealed: whole ? pieces.length : 0 };
  reveal(0);
  window.scrollTo(0, 0);
};

const uncoverPieces = () => board?.pieces.forEach((piece) => piece.classList.remove("unrevealed"));

/** @param {number} more */
const reveal = (more) => {
  if (!board) return;
  const { at, pieces } = board;
  const wanted = board.revealed + more;
  if (wanted > pieces.length || wanted < 0) {
    const there = nextShown(at, more);
    if (there !== undefined) putOn(there, more < 0);
    return;
  }
  board.revealed = wanted;
  pieces.forEach((piece, i) => piece.classList.toggle("unrevealed", i >= wanted));
  pieces[wanted - 1]?.scrollIntoView({ block: "nearest" });
};

/** The next section that is not hidden, or the one before. @param {number} at @param {number} step */
const nextShown = (at, step) => {
  for (let i = at + step; sections[i]; i += step) if (!sections[i].hidden) return i;
  return undefined;
};

const startBoard = () => {
  const inView = sections.findIndex(
    (section) => !section.hidden && section.getBoundingClientRect().bottom > innerHeight / 4,
  );
  walk([]);
  unfold();
  document.documentElement.requestFullscreen?.().catch(() => undefined);
  document.body.classList.add("board");
  boardKeys.hidden = false;
  putOn(inView < 0 ? sections.findIndex((section) => !section.hidden) : inView, false);
  next.focus();
};

const endBoard = () => {
  if (!board) return;
  uncoverPieces();
  const section = sections[board.at];
  board = null;
  document.body.classList.remove("board");
  boardKeys.hidden = true;
  if (document.fullscreenElement) document.exitFullscreen();
  section.scrollIntoView();
  boardButton.focus({ preventScroll: true });
};

document.addEventListener("keydown", (event) => {
  if (!board) return;
  const { target: on, key } = event;
  const own = on instanceof HTMLInputElement || (on instanceof HTMLButtonElement && " Enter".includes(key));
  if (key === "Escape") endBoard();
  else if (!own && ONWARD.includes(key)) reveal(1);
  else if (!own && BACKWARD.includes(key)) reveal(-1);
  else return;
  event.preventDefault();
});
boardButton.addEventListener("click", startBoard);
next.addEventListener("click", () => reveal(1));
the("before", HTMLButtonElement).addEventListener("click", () => reveal(-1));
the("end", HTMLButtonElement).addEventListener("click", endBoard);
document.addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) endBoard();
});
window.addEventListener("hashchange", () => {
  const at = sections.findIndex((section) => section === target(location.hash));
  if (!board || at < 0) return;
  putOn(at, false);
  next.focus();
});
