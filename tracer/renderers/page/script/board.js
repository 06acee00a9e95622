// @ts-check

// Board: one section fills the screen, and each key press reveals its next line.

/** The pieces of the section, how many come with it, and how many are revealed. */
/** @type {{pieces: HTMLElement[], opening: number, revealed: number} | null} */
let board = null;
const boardButton = the("board", HTMLButtonElement);
const next = the("next", HTMLButtonElement);
const boardKeys = the("board-keys", HTMLElement);
const ONWARD = [" ", "Enter", "ArrowRight", "ArrowDown", "PageDown"];
const BACKWARD = ["Backspace", "ArrowLeft", "ArrowUp", "PageUp"];

/** The pieces to reveal in order: of each line its sides, then its result. @param {Element} section */
const piecesOf = (section) =>
  blocksOf(section)
    .filter((block) => !block.matches(".restated, .question"))
    .flatMap((block) => (block.matches(".working") ? all("li, .result", block) : [block]));

/** @param {HTMLElement} section @param {boolean} whole */
const putOnBoard = (section, whole) => {
  takeOffBoard();
  putOnStage(section, "board");
  const pieces = piecesOf(section);
  const line = pieces.findIndex((piece) => piece.matches(".working *"));
  const opening = Math.min(Math.max(line, 1), pieces.length);
  board = { pieces, opening, revealed: whole ? pieces.length : opening };
  reveal(0);
};

const takeOffBoard = () => {
  board?.pieces.forEach((piece) => piece.classList.remove("unrevealed", "kept"));
  leaveStage();
  board = null;
};

/** Reveal more pieces, or fewer; go on to the next section, or back. @param {number} more */
const reveal = (more) => {
  if (!board || !staged) return;
  const { pieces, opening, revealed } = board;
  const wanted = revealed + more;
  if (wanted > pieces.length || wanted < opening) {
    const there = nextShown(staged, more);
    if (there) putOnBoard(there, more < 0);
    return;
  }
  board.revealed = wanted;
  pieces.forEach((piece, i) => piece.classList.toggle("unrevealed", i >= wanted));
  const [formula] = pieces.slice(0, wanted).filter((piece) => piece.matches(".formula")).slice(-1);
  pieces.forEach((piece) => piece.classList.toggle("kept", piece === formula));
  const last = pieces[wanted - 1];
  const lines = pieces.filter((piece) => piece.matches(".working *"));
  const line = lines.find((piece) => pieces.indexOf(piece) >= wanted - 1) || lines[lines.length - 1];
  layOut(line ? line.closest("ol") : null);
  forget();
  const { line: of } = last?.closest("li")?.dataset || {};
  if (of) lightOperands(of);
  last?.scrollIntoView({ block: "nearest" });
};

/** Reveal all pieces of the section, or only those that it begins with. @param {"Home" | "End"} key */
const revealTo = (key) => {
  if (board) reveal((key === "End" ? board.pieces.length : board.opening) - board.revealed);
};

/** The next section that is not hidden, or the one before. @param {HTMLElement} from @param {number} step */
const nextShown = (from, step) => {
  const shown = sections.filter((section) => !section.hidden);
  return shown[shown.indexOf(from) + step];
};

const startBoard = () => {
  const section = sectionInView();
  if (!section) return;
  walk([]);
  showEverything();
  document.documentElement.requestFullscreen?.().catch(() => undefined);
  boardKeys.hidden = false;
  putOnBoard(section, false);
  next.focus();
};

const endBoard = () => {
  if (!board) return;
  const section = staged;
  takeOffBoard();
  boardKeys.hidden = true;
  if (document.fullscreenElement) document.exitFullscreen();
  section?.scrollIntoView();
  boardButton.focus({ preventScroll: true });
};

document.addEventListener("keydown", (event) => {
  if (!board) return;
  const { target: on, key } = event;
  const pressed = on instanceof HTMLButtonElement && " Enter".includes(key);
  if (key === "Escape") endBoard();
  else if (key === "Home" || key === "End") revealTo(key);
  else if (!pressed && ONWARD.includes(key)) reveal(1);
  else if (!pressed && BACKWARD.includes(key)) reveal(-1);
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
  const section = sections.find((each) => each === target(location.hash));
  if (!board || !section) return;
  putOnBoard(section, false);
  next.focus();
});
