// @ts-check

// Typed numbers are fields: type, press arrow keys, or drag.

const field = the("field", HTMLDivElement);
const typedInput = the("typed", HTMLInputElement);
const fieldProblem = the("wrong", HTMLParagraphElement);

/**
 * The number in the field, by its key; whether it was sent since the field was opened, and whether
 * the field closes once the engine has taken the number.
 */
let inField = { key: "", written: "", sent: false, closes: false };
/** A drag that begins at a cell. @type {{x: number, cell: HTMLElement, base: string, moved: boolean} | null} */
let drag = null;
const PIXELS_A_STEP = 6;
/** Before a message, its place in the file; below it, indented, a line of the file and a mark. */
const PLACE_IN_FILE = /^.*?:\d+:\d+: /;
const EXCERPT = /^ {2}/;

/** @param {string} of */
const isTyped = (of) => {
  if (tape) return placeOf(of) !== undefined;
  const { given, address } = sourceOf(of);
  return given && !!data.live?.typed.includes(address);
};

/** The cell of a typed number that an event has happened to. @param {Event} event */
const typedCell = (event) => {
  const cell = under(event, "td.typed");
  return cell && !staged ? cell : null;
};

const markTyped = () => {
  for (const cell of all("td[data-of]", text)) cell.classList.toggle("typed", isTyped(cell.dataset.of || ""));
};

/** A number some steps of its last digit away. @param {string} written @param {number} steps */
const stepped = (written, steps) => {
  const number = readNumber(written);
  return number && asText({ ...number, digits: number.digits + BigInt(steps) });
};

/** `0.50` of 50 and 2 places. @param {{digits: bigint, places: number}} number */
const asText = ({ digits, places: after }) => {
  const size = (digits < 0n ? -digits : digits).toString();
  const sign = digits < 0n ? "-" : "";
  if (after <= 0) return sign + size + "0".repeat(-after);
  const padded = size.padStart(after + 1, "0");
  return `${sign}${padded.slice(0, -after)}.${padded.slice(-after)}`;
};

/** What was typed as the program reads it. @param {string} written */
const asRead = (written) => {
  const bare = written.replace(/\s/g, "").replace(/[−–]/g, "-").replace(",", ".").replace("∞", "inf");
  const number = /[×x*^]/.test(bare) && readNumber(bare);
  return number ? asText(number) : bare;
};

/** Open the field over a cell. @param {HTMLElement} cell @param {string} [begun] what was typed already */
const openField = (cell, begun) => {
  const of = cell.dataset.of || "";
  inField = { key: keyOf(of), written: entryOf(of).number, sent: false, closes: false };
  typedInput.value = begun ?? inField.written;
  typedInput.setAttribute("aria-label", `${nameOf(of)}, typed number`);
  sayAtField("");
  field.hidden = false;
  placeField();
  typedInput.focus({ preventScroll: true });
  if (begun === undefined) typedInput.select();
};

const placeField = () => {
  const cell = field.hidden ? undefined : cellOf(ofKey(inField.key));
  if (!cell) return closeField(false);
  const { left, top, width, height } = cell.getBoundingClientRect();
  field.style.left = `${left + scrollX}px`;
  field.style.top = `${top + scrollY}px`;
  typedInput.style.width = `${Math.max(width, 64)}px`;
  typedInput.style.height = `${height}px`;
};

/** @param {boolean} back whether its cell gets the focus */
const closeField = (back) => {
  if (field.hidden) return;
  const cell = cellOf(ofKey(inField.key));
  inField = { key: "", written: "", sent: false, closes: false };
  if (back && cell) focusOn(cell);
  field.hidden = true;
};

/** What is wrong with the number in the field; its place in the file is no place on the page. @param {string} message */
const sayAtField = (message) => {
  const lines = message.split("\n").filter((line) => line && !EXCERPT.test(line));
  fieldProblem.textContent = lines.map((line) => line.replace(PLACE_IN_FILE, "")).join("\n");
  typedInput.toggleAttribute("aria-invalid", !!message);
  if (message) speak(fieldProblem.textContent);
};

/** The edit that waits until the one before it is answered. @type {{edit: object, of: string} | null} */
let waiting = null;
let sending = false;

/** Send the number in the field, unless it is there already. @param {boolean} closes */
const sendField = (closes) => {
  const number = asRead(typedInput.value);
  inField.closes = closes;
  if (number === asRead(inField.written)) {
    if (closes && !sending && !fieldProblem.textContent) closeField(document.activeElement === typedInput);
    return;
  }
  inField.written = number;
  const of = ofKey(inField.key);
  const place = placeOf(of);
  if (place !== undefined && !changeHere(place, number)) return;
  const at = of.split(":")[1].split(",").filter(Boolean).map((each) => Number(each) + 1);
  const [row, column] = at.length > 1 ? at : [undefined, ...at];
  const edit = { address: sourceOf(of).address, row, column, number, continues: inField.sent };
  inField.sent = true;
  sendEdit(edit, inField.key);
};

/**
 * Change a number in the page at once; return whether a server has to know it, too.
 * @param {number} place @param {string} number
 */
const changeHere = (place, number) => {
  try {
    change(place, number, inField.sent);
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    if (data.live) return true; // the program may know what the page does not
    inField.closes = false;
    sayAtField(`No result: ${error.message}.`);
    return false;
  }
  if (data.live) return true;
  inField.sent = true;
  sayAtField("");
  if (inField.closes) closeField(document.activeElement === typedInput);
  return false;
};

/** @param {object} edit @param {string} of the key of the number that it changes */
const sendEdit = async (edit, of) => {
  if (sending) {
    waiting = { edit, of };
    return;
  }
  sending = true;
  try {
    const page = await engine.edit(edit);
    if (!waiting) replace(page);
    if (of === inField.key) sayAtField("");
    if (of === inField.key && inField.closes) closeField(document.activeElement === typedInput);
  } catch (error) {
    inField.closes = false;
    if (of && of === inField.key) sayAtField(error instanceof Error ? error.message : String(error));
    else report(error);
  }
  sending = false;
  if (!waiting) return catchUp();
  const next = waiting;
  waiting = null;
  sendEdit(next.edit, next.of);
};

text.addEventListener("pointerdown", (event) => {
  const cell = typedCell(event);
  if (!cell || event.button) return;
  drag = { x: event.clientX, cell, base: entryOf(cell.dataset.of || "").number, moved: false };
});
document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const steps = Math.round((event.clientX - drag.x) / PIXELS_A_STEP);
  if (!drag.moved && !steps) return;
  if (!drag.moved) openField(drag.cell);
  drag.moved = true;
  typedInput.value = stepped(drag.base, steps) ?? drag.base;
  sendField(false);
});
document.addEventListener("pointerup", () => {
  if (drag && !drag.moved) openField(drag.cell);
  drag = null;
});
document.addEventListener("pointercancel", () => (drag = null));
text.addEventListener("keydown", (event) => {
  const cell = typedCell(event);
  const begins = /^[-−.0-9]$/.test(event.key);
  if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!begins && event.key !== "Enter" && event.key !== "F2") return;
  event.preventDefault();
  openField(cell, begins ? event.key : undefined);
});
typedInput.addEventListener("keydown", (event) => {
  const steps = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
  if (steps) {
    event.preventDefault();
    typedInput.value = stepped(asRead(typedInput.value), steps) ?? typedInput.value;
    sendField(false);
  } else if (event.key === "Enter") {
    event.preventDefault();
    sendField(true);
  } else if (event.key === "Escape") {
    closeField(true);
  } else return;
  event.stopPropagation();
});
typedInput.addEventListener("blur", () => {
  if (inField.key && !drag) sendField(true);
});
window.addEventListener("resize", placeField);
window.addEventListener("scroll", placeField, { capture: true, passive: true });
document.addEventListener("replaced", () => {
  markTyped();
  placeField();
});
document.addEventListener("laid-out", markTyped);
markTyped();
