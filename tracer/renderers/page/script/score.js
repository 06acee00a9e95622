// @ts-check

// How each number was answered, which steps are asked, and a code to hand in.

const FIRST = "first try";
const LATER = "later try";
const HINTED = "with a hint";
const GIVEN = "shown";
const OUTCOMES = [FIRST, LATER, HINTED, GIVEN];
const score = the("score", HTMLElement);
const handIn = the("hand-in", HTMLElement);
const stepChecks = the("steps", HTMLElement);
const SCORE_NAME = `decoder-trace ${data.key}`;

/** Use what the browser keeps for a page; it may refuse. @template T @param {(kept: Storage) => T} use */
const withStorage = (use) => {
  try {
    return data.key ? use(localStorage) : null;
  } catch {
    return null;
  }
};

/** How each number and each question was answered, also before the page was loaded again. @type {Map<string, string>} */
const outcomes = withStorage((kept) => new Map(JSON.parse(kept.getItem(SCORE_NAME) || "[]"))) || new Map();

/** The steps to ask, as in the address; all of them if there are none. @type {Set<string>} */
const chosenSteps = new Set();

/** The number of a step, or its name in the address. @param {Element} section */
const stepName = ({ id }) => id.replace(/^step-/, "");

/** @param {string} name @param {string} outcome */
const keepOutcome = (name, outcome) => {
  outcomes.set(name, outcome);
  keepScore();
};

/** Ask again what was answered. @param {string[]} names */
const dropOutcomes = (names) => {
  names.forEach((name) => outcomes.delete(name));
  keepScore();
};

const keepScore = () => withStorage((kept) => kept.setItem(SCORE_NAME, JSON.stringify([...outcomes])));

/** How many were answered in each way. @param {string[]} names */
const counts = (names) => OUTCOMES.map((outcome) => names.filter((name) => outcomes.get(name) === outcome).length);

/** ` (2 first try, 1 with a hint)`. @param {string[]} names */
const counted = (names) => {
  const parts = counts(names).flatMap((times, i) => (times ? [`${times} ${OUTCOMES[i]}`] : []));
  return parts.length ? ` (${parts.join(", ")})` : "";
};

/** The numbers in a list, with ranges: `2-7,9`. @param {string[]} names */
const ranges = (names) => {
  /** @type {string[][]} */
  const found = [];
  for (const name of names) {
    const last = found.at(-1);
    if (last && Number(name) === Number(last.at(-1)) + 1) last.push(name);
    else found.push([name]);
  }
  return found.map((each) => (each.length > 1 ? `${each[0]}-${each.at(-1)}` : each[0])).join(",");
};

/** The checksum CRC-32. @param {string} words */
const checksum = (words) => {
  let rest = -1;
  for (const byte of new TextEncoder().encode(words)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return (~rest >>> 0).toString(16).padStart(8, "0");
};

/** `key/token/steps/first.later.hinted.shown.asked/checksum`. @param {HTMLElement[]} steps */
const codeOf = (steps) => {
  const names = steps.flatMap(askedIn);
  const token = Number(select("token")?.value ?? data.token) + 1;
  const numbers = [...counts(names), names.length].join(".");
  const code = [data.key, token, ranges(steps.map(stepName)), numbers].join("/");
  return `${code}/${checksum(code)}`;
};
