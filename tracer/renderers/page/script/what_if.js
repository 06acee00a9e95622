// @ts-check

// What if …: a reader predicts what a change does; then the page makes it, and says what has happened.

/**
 * A change of numbers, rows or matrices of the tape, and the number or the word that may change with it.
 * @typedef {{change: "exchange" | "double" | "silence" | "unmask", changed: string[], watched: string, head: string}} WhatIf
 * @typedef {{word: string, printed: string, number: Decimal, computed: Decimal}} Outcome a number, or the most probable word with its probability
 * @typedef {{asks: WhatIf, choices: string[], press: HTMLElement, said: HTMLElement}} Question as it is on the page
 */

const whatIf = the("what-if", HTMLElement);
const [RISES, FALLS, STAYS] = ["rise", "fall", "stay the same"];
const OTHER_WORD = "another word";
const MOST_CHOICES = 4;
const SEE = "See";

/** The last change that a question has made, unless it is put back. @type {(Change & {question: Question}) | null} */
let tried = null;

// --- what changes

/** The places in the scenario of a number, a row or a matrix. @param {string} of */
const typedIn = (of) => {
  const { shape, places: typed = [] } = /** @type {TapeValue} */ (valueOnTape(of));
  const at = of.split(":")[1];
  const length = size(shape.slice(at.split(",").filter(Boolean).length));
  return typed.slice(flatPlace(shape, at) * length).slice(0, length);
};

/** What the numbers at some places become, or a setting. @type {Record<WhatIf["change"], (...places: number[][]) => State>} */
const CHANGES = {
  exchange: (one, other) => new Map([...one, ...other].map((place, i) => [place, typedText(tapeHere().numberAt([...other, ...one][i]))])),
  double: ([place]) => new Map([[place, textOf(multiply(tapeHere().numberAt(place), whole(2), tapeHere().context))]]),
  silence: (...matrices) => new Map(matrices.flat().map((place) => [place, "0"])),
  unmask: () => new Map((data.tape?.settings || []).flatMap((each) => (each.name === "mask" ? [[each, "none"]] : []))),
};

/** @param {WhatIf} asks */
const changeOf = ({ change, changed }) => CHANGES[change](...changed.map(typedIn));

/** Whether what changes is typed, and becomes another number. @param {WhatIf} asks */
const canBeAsked = (asks) => {
  const typed = asks.changed.map(typedIn);
  if (typed.some((each) => !each.length || each.some((place) => !data.tape?.spans[place]))) return false;
  return [...changeOf(asks)].some(([of, to]) => present(of) !== to);
};

/** What is predicted, as it is now. @param {string} watched @returns {Outcome} */
const outcomeOf = (watched) => {
  const value = /** @type {TapeValue} */ (valueOnTape(watched));
  const at = flatPlace(value.shape, watched.split(":")[1]);
  if (!value.words) return { word: "", printed: printedAt(watched), number: tapeHere().pencil.number(value, at), computed: value.computed[at] };
  const [probabilities] = value.inputs;
  const column = value.operation.words.indexOf(value.numbers[at]);
  return { ...outcomeOf(`${probabilities}:${at},${column}`), word: tapeHere().values[probabilities].labels[1][column] };
};

// --- its words

/** The labels of a number or a row, quoted. @param {string} of */
const labelsOf = (of) => of.split(":")[1].split(",").map((i, axis) => `“${sourceOf(of).labels[axis][Number(i)]}”`);

/** @param {string} head */
const inHead = (head) => (head ? ` in ${head}` : "");

/** @type {Record<WhatIf["change"], (asks: WhatIf) => string>} */
const QUESTIONS = {
  exchange: ({ changed }) => {
    const { address } = sourceOf(changed[0]);
    const tower = address.startsWith("encoder.") ? "the encoder's " : "";
    return `What if ${tower}${changed.flatMap(labelsOf).join(" and ")} exchange their ${address.endsWith("embedding") ? "embeddings" : "vectors"}?`;
  },
  double: ({ changed: [of], head }) => `What if ${nameOf(of)}${inHead(head)} is doubled?`,
  silence: ({ head }) => `What if ${/head/.test(head) ? head : `the head${inHead(head)}`} outputs only zeros?`,
  unmask: () => "What if there is no mask?",
};

/** What is predicted, in words. @param {WhatIf} asks */
const subjectOf = ({ change, watched, head }) => {
  const [row, column] = labelsOf(watched);
  if (!column) return `The next word after ${row}`;
  if (change === "silence") return `${column} of ${row} at the output`;
  const tower = sourceOf(watched).address.includes("cross_attention") ? "the encoder's " : "";
  return `The weight that ${row} gives to ${tower}${column}${inHead(head)}`;
};

/** What a reader can choose; of many words, the most probable. @param {WhatIf} asks */
const choicesOf = ({ watched }) => {
  const value = /** @type {TapeValue} */ (valueOnTape(watched));
  if (!value.words) return [RISES, FALLS, STAYS];
  const { numbers, labels, shape } = tapeHere().values[value.inputs[0]];
  const row = rowsOf(numbers, shape[0])[Number(watched.split(":")[1])];
  const ranked = [...row.keys()].sort((a, b) => compare(row[b], row[a]));
  const some = ranked.slice(0, MOST_CHOICES - (row.length > MOST_CHOICES ? 1 : 0)).sort((a, b) => a - b);
  return [...some.map((i) => labels[1][i]), ...(some.length < row.length ? [OTHER_WORD] : [])];
};

/** Which way a number goes, as it is printed. @param {Outcome} before @param {Outcome} now */
const directionOf = (before, now) => [FALLS, STAYS, RISES][compare(now.number, before.number) + 1];

/** @param {Outcome} before @param {Outcome} now */
const moved = (before, now) => {
  const way = directionOf(before, now);
  if (way !== STAYS) return `${way}s from ${before.printed} to ${now.printed}`;
  return `stays ${now.printed}${compare(now.computed, before.computed) ? " with the digits shown" : ""}`;
};

/** What has happened. @param {WhatIf} asks @param {Outcome} before @param {Outcome} now */
const sentenceOf = (asks, before, now) => {
  if (!now.word) return `${subjectOf(asks)} ${moved(before, now)}.`;
  if (now.word === before.word) return `${subjectOf(asks)} is still “${now.word}”. Its probability ${moved(before, now)}.`;
  return `${subjectOf(asks)} is “${now.word}” (${now.printed}). Before, it was “${before.word}” (${before.printed}).`;
};

// --- on the page

/** @param {WhatIf} asks */
const questionOf = (asks) => {
  const question = { asks, choices: choicesOf(asks), press: button("", SEE), said: element("p", "") };
  const { choices, press, said } = question;
  const details = document.createElement("details");
  const labels = choices.map((value) => {
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name: asks.change, value });
    return element("label", "", input, ` ${value}`);
  });
  press.addEventListener("click", () => {
    const { top } = details.getBoundingClientRect();
    const chosen = /** @type {HTMLInputElement | null} */ (details.querySelector(":checked"))?.value;
    if (tried?.question === question) putBack();
    else if (chosen) see(question, chosen);
    else say(question, "Choose one.");
    keepAt(details, top);
  });
  const legend = `${subjectOf(asks)} will${choices.includes(STAYS) ? "" : " be"} …`;
  const fields = element("fieldset", "", element("legend", "", legend), element("span", "choices", ...labels), press, said);
  details.name = whatIf.id; // one of them is open
  details.append(element("summary", "", QUESTIONS[asks.change](asks)), fields);
  return details;
};

/** @param {Question} question @param {...(string | Node)} words */
const say = ({ said }, ...words) => {
  said.replaceChildren(...words);
  speak(said.textContent || "");
};

/** Make the change of a question in place of that of another one. @param {Question} question @param {string} chosen */
const see = (question, chosen) => {
  putBack();
  const { asks, choices, press } = question;
  const [outcome, after] = [outcomeOf(asks.watched), changeOf(asks)];
  const before = presentOf(after);
  try {
    make(after, false);
  } catch (error) {
    if (!(error instanceof NoResult)) throw error;
    return say(question, `No result: ${error.message}.`);
  }
  tried = { question, before, after };
  press.textContent = "Put it back";
  const now = outcomeOf(asks.watched);
  const right = now.word ? (choices.includes(now.word) ? now.word : OTHER_WORD) : directionOf(outcome, now);
  const verdict = chosen === right ? element("b", "right", "Correct.") : element("b", "wrong", "Wrong.");
  say(question, verdict, ` ${sentenceOf(asks, outcome, now)}`);
};

/** Undo the change of a question, and nothing that a reader has changed after it. */
const putBack = () => {
  const { before } = tried || {};
  forgetTried();
  if (before) make(before, false);
};

const forgetTried = () => {
  if (!tried) return;
  const { press, said } = tried.question;
  press.textContent = SEE;
  said.textContent = "";
  tried = null;
};

const askAboutToken = () => {
  const asked = data.what_if?.[Number(select("token")?.value ?? data.token)] || [];
  const questions = asked.filter(canBeAsked).map(questionOf);
  all("details", whatIf).forEach((before) => before.remove());
  whatIf.append(...questions);
  whatIf.hidden = !questions.length;
  if (questions.length) questions[0].open = true;
  tried = null;
};

askAboutToken();
select("token")?.addEventListener("change", askAboutToken);
document.addEventListener("changed", () => {
  if (!tried) return;
  tried.question.said.textContent = ""; // it was about other numbers
  if ([...tried.after].some(([of, to]) => present(of) !== to)) forgetTried();
});
