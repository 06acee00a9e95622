// @ts-check

// Pointing at a number shows its line in the panel and highlights its operands.

const panel = the("panel", HTMLElement);
const linePanel = the("line", HTMLParagraphElement);
const sources = the("sources", HTMLUListElement);
const COLORS = 5;

/** The number whose line is shown. */
let pointed = "";
/** The highlighted elements and their classes. @type {[HTMLElement, string[]][]} */
let lit = [];

/** @param {string} of @param {...string} kinds */
const light = (of, ...kinds) => {
  for (const place of places.get(of) || []) {
    place.classList.add(...kinds);
    lit.push([place, kinds]);
  }
};

const forget = () => {
  lit.forEach(([place, kinds]) => place.classList.remove(...kinds));
  lit = [];
  pointed = "";
  linePanel.replaceChildren();
  sources.replaceChildren();
  darken();
};

/** Show the line of a number and highlight its operands. @param {string} of */
const show = (of) => {
  forget();
  pointed = of;
  const from = originalOf(of);
  const { number, work = [], sign = "", result = "" } = entryOf(from);
  const operands = operandsOf(from);
  const values = [...new Set(operands.map(valueOf))];
  /** @param {string} each */
  const color = (each) => `source-${values.indexOf(valueOf(each)) % COLORS}`;
  /** @param {string} each @param {string} written */
  const source = (each, written) => {
    const made = button(`number ${color(each)}`, written);
    made.dataset.go = each;
    made.title = nameOf(each);
    return made;
  };
  const name = from === of ? nameOf(of) : `${nameOf(of)} is ${nameOf(from)}`;
  const last = element("b", "", result || number);
  const line = work.length ? [...drawn(work, source), " ", element("span", "result", `${sign} `, last)] : [last];
  linePanel.append(element("span", "title", `${name} =`), " ", ...unbroken(line));
  if (sourceOf(from).given) linePanel.append(", given");
  if (earlier.has(of)) linePanel.append(`, was ${earlier.get(of)}`);
  speak(linePanel.textContent || "");
  sources.append(...values.map((value) => named(operands.filter((each) => valueOf(each) === value), color)));
  light(of, "here");
  if (from !== of) light(from, "here");
  operands.forEach((each) => light(each, "lit", color(each)));
  lightWay(of);
};

/** Show where a number stands, without its line. @param {string} of */
const lightAlone = (of) => {
  forget();
  pointed = of;
  light(of, "here");
};

/** What stands before a number, and never at the end of a line. */
const SIGN = /^[-+=≈]$/;

/** The words of a line; no line break separates a number from its sign. @param {(string | Node)[]} line */
const unbroken = (line) => {
  let word = element("span", "unbroken");
  /** @type {(string | Node)[]} */
  const words = [word];
  for (const each of line) {
    const [first, ...others] = typeof each === "string" ? each.split(" ") : [each];
    word.append(first);
    for (const other of others) {
      if (SIGN.test(word.textContent || "")) {
        word.append(" ", other);
        continue;
      }
      word = element("span", "unbroken", other);
      words.push(" ", word);
    }
  }
  return words;
};

/**
 * An operand's value, with those of its numbers that no matrix shows.
 * @param {string[]} operands @param {(of: string) => string} color
 */
const named = (operands, color) => {
  const { symbol, address } = sourceOf(operands[0]);
  const item = element("li", "", element("span", `swatch ${color(operands[0])}`, symbol), ` ${address}`);
  for (const of of operands.filter((each) => !cellOf(each))) {
    const made = element("span", `number lit ${color(of)}`, entryOf(of).number);
    made.dataset.lit = of;
    item.append(" ", made);
  }
  return item;
};

/** Move the panel to the other edge of the window if it covers a number. @param {Element} place */
const makeRoom = (place) => {
  panel.classList.remove("above");
  const [over, its] = [panel, place].map((each) => each.getBoundingClientRect());
  const hidden = its.bottom > over.top && its.top < over.bottom && its.right > over.left;
  panel.classList.toggle("above", hidden);
};

text.addEventListener("mousemove", (event) => {
  const number = under(event, "[data-of]");
  const moved = event.movementX || event.movementY; // else the page has moved below the mouse
  if (!number || !moved || number.dataset.of === pointed || way.length) return;
  const { of = "" } = number.dataset;
  if (staged) return lightAlone(of);
  show(of);
  makeRoom(number);
});
