// @ts-check

// Board: one section fills the screen, and each press reveals what comes next.

/** What each press reveals of the section, the first with the section itself; how many are revealed. */
/** @type {{parts: HTMLElement[][], revealed: number} | null} */
let board = null;
const boardButton = the("board", HTMLButtonElement);
const lineByLine = the("line-by-line", HTMLInputElement);

/** The pieces to reveal in order: of each line its sides, then its result. @param {Element} section */
const piecesOf = (section) =>
  blocksOf(section)
    .filter((block) => !block.matches(".restated, .question"))
    .flatMap((block) => (block.matches(".working") ? all("li, .result", block) : [block]));

/** Whether a piece is a sentence or a formula, which gives the reason of lines. @param {Element} piece */
const isReason = (piece) => piece.matches("p, .formula");

/**
 * What each press reveals: the first reasons, which come with the section; then lines and matrices,
 * each group with the reasons before it. Line by line, each side and each result is a part.
 * @param {Element} section
 */
const boardParts = (section) => {
  /** @type {HTMLElement[][]} */
  const parts = [];
  const pieces = piecesOf(section);
  const hasLines = pieces.some((piece) => piece.matches(".working *"));
  for (const piece of pieces) {
    const last = parts[parts.length - 1];
    const opens = parts.length === 1;
    const begins = lineByLine.checked
      ? !opens || !hasLines || piece.matches(".working *")
      : isReason(piece) ? !isReason(last?.at(-1) || piece) : opens && last.every(isReason);
    if (!last || begins) parts.push([piece]);
    else last.push(piece);
  }
  return parts;
};

/** @param {HTMLElement} section @param {number} [revealed] parts, all of them if there are fewer */
const putOnBoard = (section, revealed = 1) => {
  takeOffBoard();
  putOnStage(section, "board");
  const parts = boardParts(section);
  board = { parts, revealed: Math.min(revealed, parts.length) };
  showOnMap(boxOf.get(section.id));
  reveal(0);
};

const takeOffBoard = () => {
  board?.parts.flat().forEach((piece) => piece.classList.remove("unrevealed", "kept"));
  leaveStage();
  board = null;
};

/** `step 9 of 49, line 3 of 7`. @param {HTMLElement} section */
const placeOnBoard = (section) => {
  const numbers = sections.map(({ id }) => Number(/^step-(\d+)$/.exec(id)?.[1] || 0));
  const number = numbers[sections.indexOf(section)];
  const { parts, revealed } = board || { parts: [], revealed: 0 };
  const step = number ? `step ${number} of ${Math.max(...numbers)}, ` : "";
  return `${step}line ${revealed} of ${parts.length}`;
};

/** Reveal more parts, or fewer; go on to the next section, or back. @param {number} more */
const reveal = (more) => {
  if (!board || !staged) return;
  const { parts, revealed } = board;
  const wanted = revealed + more;
  if (wanted > parts.length || (wanted < 1 && parts.length)) {
    const there = nextShown(staged, more);
    if (there) putOnBoard(there, more < 0 ? Infinity : 1);
    return;
  }
  board.revealed = wanted;
  const [before, newest, later] = [parts.slice(0, wanted - 1), parts.slice(wanted - 1, wanted), parts.slice(wanted)].map(
    (each) => each.flat(),
  );
  const pieces = [...before, ...newest, ...later];
  const formula = [...before, ...newest].filter((piece) => piece.matches(".formula")).at(-1);
  for (const piece of pieces) {
    piece.classList.toggle("unrevealed", later.includes(piece));
    piece.classList.toggle("kept", piece === formula);
  }
  const lines = pieces.filter((piece) => piece.matches(".working *"));
  const line = lines.find((piece) => !before.includes(piece)) || lines.at(-1);
  layOut(line ? line.closest("ol") : null);
  forget();
  const { line: of } = newest.at(-1)?.closest("li")?.dataset || {};
  if (of) lightOperands(of);
  for (const piece of [newest.at(-1), newest[0]]) piece?.scrollIntoView({ block: "nearest" });
  placeShown.textContent = placeOnBoard(staged);
  speak(placeShown.textContent);
};

/** Reveal all of the section, or only what it begins with. @param {"Home" | "End"} key */
const revealTo = (key) => {
  if (board) reveal((key === "End" ? board.parts.length : 1) - board.revealed);
};

/** The next section that is not hidden, or the one before. @param {HTMLElement} from @param {number} step */
const nextShown = (from, step) => {
  const shown = sections.filter((section) => !section.hidden);
  return shown[shown.indexOf(from) + step];
};

/** @param {HTMLElement} section @param {number} [revealed] */
const startBoard = (section, revealed) => {
  walk([]);
  unfold();
  if (navigator.userActivation.isActive) document.documentElement.requestFullscreen?.().catch(() => undefined);
  putOnBoard(section, revealed);
  leadThrough({ by: reveal, to: revealTo, end: endBoard });
};

const endBoard = () => {
  if (!board) return;
  const section = staged;
  takeOffBoard();
  leadThrough(null);
  if (document.fullscreenElement) document.exitFullscreen();
  section?.scrollIntoView();
  boardButton.focus({ preventScroll: true });
};

boardButton.addEventListener("click", () => startBoard(sectionToBegin()));
document.addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) endBoard();
});
lineByLine.addEventListener("change", () => {
  if (staged) putOnBoard(staged);
  next.focus();
});
