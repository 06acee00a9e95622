// @ts-check

// Try: the numbers of a step are asked, block by block; what follows a block shows after it.

const tryButton = the("try", HTMLButtonElement);
const tryingBar = the("trying", HTMLElement);
const stepChoice = the("step", HTMLSelectElement);
/** The names of what is asked at the moment: numbers, or a question. @type {Set<string>} */
const asked = new Set();
/** The texts in which asked numbers are hidden. @type {[Text, string][]} */
let hiddenTexts = [];
const UNKNOWN = "?";
const IN_WORDS = /\d+\.\d+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|\d{3,}|\d+(?=\s%)/g;

/** The name of a question, or of the number of a line. @param {HTMLElement} place */
const nameAsked = (place) => place.dataset.name || place.dataset.line || "";

/** Whether a block asks something: lines, or a question, which is about the numbers of the file. @param {Element} block */
const asks = (block) =>
  block.matches(".question") ? !document.body.classList.contains("differs") : linesOf(block).length > 0;

/** The steps that ask something of the followed token. */
const askable = () => sections.filter((section) => !section.hidden && blocksOf(section).some(asks));

/** Those of them that are chosen. */
const practised = () => {
  const there = askable();
  const chosen = there.filter((section) => chosenSteps.has(stepName(section)));
  return chosen.length ? chosen : there;
};

// --- a step, block by block

/** @param {HTMLElement} section */
const practise = (section) => {
  endStep();
  putOnStage(section, "trying");
  stepChoice.value = section.id;
  askFrom(0);
};

/** Show the blocks up to the next that asks something, and ask it. @param {number} start */
const askFrom = (start) => {
  if (!staged) return;
  const blocks = blocksOf(staged);
  const at = blocks.findIndex((block, i) => i >= start && asks(block));
  blocks.forEach((block, i) => block.classList.toggle("later", at >= 0 && i > at));
  if (at >= 0) {
    const block = blocks[at];
    const formulas = blocks.slice(start, at).filter((each) => each.matches(".formula"));
    const done = () => {
      if (!asked.size) askFrom(at + 1);
    };
    const isQuestion = block.matches(".question");
    const [open, answered] = [false, true].map((was) =>
      (isQuestion ? [block] : linesOf(block)).filter((place) => outcomes.has(nameAsked(place)) === was),
    );
    for (const place of answered) {
      place.hidden = false;
      reply(place, outcomes.get(nameAsked(place)) === GIVEN ? GIVEN : RIGHT);
    }
    if (!open.length) return askFrom(at + 1);
    if (isQuestion) {
      askQuestion(block, done);
    } else {
      layOut(block);
      formulas.forEach((formula) => formula.classList.add("later"));
      open.forEach((line) => askNumber(line, formulas, done));
    }
    hideAnswers();
  }
  tell();
};

/** Hide the asked numbers wherever the step shows them. */
const hideAnswers = () => {
  unhideAnswers();
  const answers = [...asked].filter((name) => name.includes(":"));
  const originals = new Set(answers.map(originalOf));
  /** @param {string} written */
  const unlessAsked = (written) =>
    answers.some((answer) => repeats(written, entryOf(answer).result || "")) ? UNKNOWN : written;
  for (const node of answers.length ? textsOf(staged, aside) : []) {
    const { of = "" } = node.parentElement?.closest(/** @type {"td"} */ ("[data-of]"))?.dataset || {};
    if (of ? !originals.has(originalOf(of)) : !node.data.match(IN_WORDS)) continue;
    hiddenTexts.push([node, node.data]);
    node.data = of ? UNKNOWN : node.data.replace(IN_WORDS, unlessAsked);
  }
};

/** The texts that can be seen. @param {...(Node | null)} parts */
const textsOf = (...parts) => {
  /** @type {Text[]} */
  const texts = [];
  for (const part of parts) {
    const walker = document.createTreeWalker(part || aside, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { currentNode: node } = walker;
      if (node instanceof Text && node.parentElement?.checkVisibility()) texts.push(node);
    }
  }
  return texts;
};

const unhideAnswers = () => {
  hiddenTexts.forEach(([node, data]) => (node.data = data));
  hiddenTexts = [];
};

/** Leave the step as the text shows it. */
const endStep = () => {
  if (!staged) return;
  unhideAnswers();
  asked.clear();
  all(".attempt, .verdict", staged).forEach(discard);
  all(".question", staged).forEach((question) => (question.hidden = true));
  for (const part of all(".later, .open", staged)) part.classList.remove("later", "open");
  leaveStage();
};

// --- one number, or one question

/**
 * @typedef {object} Attempt
 * @property {string} name
 * @property {HTMLElement} place the line, or the question
 * @property {HTMLElement} form
 * @property {() => void} done
 * @property {string} result how it was answered, if it is answered now
 */

/** @param {string} name @param {HTMLElement} place @param {() => void} done @returns {Attempt} */
const attempt = (name, place, done) => {
  const form = element("span", "attempt");
  asked.add(name);
  place.classList.add("open");
  place.append(form);
  return { name, place, form, done, result: FIRST };
};

/** @param {HTMLElement} line @param {HTMLElement[]} formulas @param {() => void} done */
const askNumber = (line, formulas, done) => {
  const of = line.dataset.line || "";
  const { work = [], result = "" } = entryOf(of);
  const one = attempt(of, line, done);
  const input = document.createElement("input");
  input.size = 9;
  input.autocomplete = "off";
  input.setAttribute("aria-label", `${nameOf(of)}, ${digitsWanted(result)}`);
  const hint = button("", "Hint");
  const put = element("span", "put-in");
  const answer = button("", "Show answer");
  let judged = "";

  const judge = () => {
    const typed = input.value.trim();
    if (!typed || typed === judged || !asked.has(of)) return;
    judged = typed;
    const said = verdict(typed, result);
    if (said === RIGHT) return settle(one, RIGHT);
    if (said === WRONG && one.result === FIRST) one.result = LATER;
    reply(line, said, ADVICE[said](result, work));
    input.select();
  };
  const giveHint = () => {
    one.result = HINTED;
    const formula = formulas.filter((each) => each.classList.contains("later"));
    formula.forEach((each) => each.classList.remove("later"));
    if (!formula.length) {
      put.replaceChildren("= ", ...unbroken(drawn(firstSide(work), numberOf)));
      all("[data-of]", put).forEach(remember);
      hint.remove();
    }
    hideAnswers();
    input.focus();
  };
  input.addEventListener("change", judge);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // else it would press the button that gets the focus
    judge();
  });
  hint.addEventListener("click", giveHint);
  answer.addEventListener("click", () => settle(one, GIVEN));
  one.form.append(`${nameOf(of)} `, put, " = ", input, " ", element("small", "", digitsWanted(result)), " ", hint, " ", answer);
};

/** The numbers put in, which are the first side of a line. @param {Piece[]} work */
const firstSide = (work) => {
  /** @type {Piece[]} */
  const side = [];
  for (const piece of work) {
    const [words, ...others] = typeof piece === "string" ? piece.split(/ [=≈] /) : [piece];
    side.push(words);
    if (others.length) break;
  }
  return side;
};

/** What to do about a number that is not correct. @type {Record<string, (result: string, work: Piece[]) => string>} */
const ADVICE = {
  [LAST_DIGIT]: (_, work) =>
    work.join("").includes("≈") ? "The line also rounds on the way. Try again." : "Check the rounding. Try again.",
  [SHORT]: (result) => `The answer takes ${digitsWanted(result)}.`,
  [UNREADABLE]: () => "Type digits, such as -0.5 or 2.1e-5.",
  [WRONG]: () => "Try again.",
};

/** @typedef {{labels: string[], right: number[], several: boolean}} Choices */

/** @param {HTMLElement} question @param {() => void} done */
const askQuestion = (question, done) => {
  /** @type {Choices} */
  const { labels, right, several } = JSON.parse(question.dataset.choices || "");
  const one = attempt(question.dataset.name || "", question, done);
  question.hidden = false;
  const inputs = labels.map(() => {
    const input = document.createElement("input");
    input.type = several ? "checkbox" : "radio";
    input.name = "choice";
    return input;
  });
  const check = button("", "Check");
  const answer = button("", "Show answer");
  const choices = labels.map((label, i) => element("label", "", inputs[i], " ", element("code", "name", label)));
  one.form.setAttribute("role", "group");
  one.form.setAttribute("aria-label", question.querySelector(".asks")?.textContent || "");
  check.addEventListener("click", () => {
    const chosen = inputs.flatMap((input, i) => (input.checked ? [i] : []));
    if (chosen.join() === right.join()) return settle(one, RIGHT);
    if (!chosen.length && !several) return;
    one.result = LATER;
    reply(question, WRONG, ADVICE[WRONG]("", []));
  });
  answer.addEventListener("click", () => settle(one, GIVEN));
  one.form.append(element("span", "choices", ...choices), several ? "Choose all that apply, if any. " : "Choose one. ", check, " ", answer);
};

/** @type {Record<string, string>} */
const CLASSES = { [RIGHT]: "right", [LAST_DIGIT]: "close", [SHORT]: "close", [WRONG]: "wrong" };

/** @param {HTMLElement} place @param {string} said @param {string} [advice] */
const reply = (place, said, advice) => {
  all(".verdict", place).forEach((before) => before.remove());
  const words = advice ? `. ${advice}` : "";
  place.append(" ", element("span", "verdict", element("b", CLASSES[said] || "", said), words));
  speak(said + words);
};

/** Show an answer, and go on. @param {Attempt} one @param {string} said */
const settle = (one, said) => {
  const { name, place, form, done } = one;
  keepOutcome(name, said === RIGHT ? one.result : GIVEN);
  asked.delete(name);
  discard(form);
  place.classList.remove("open");
  reply(place, said);
  hideAnswers();
  tell();
  done();
  const [input] = all(".attempt input", text).filter((each) => each.checkVisibility());
  (input || nextStep).focus();
};

// --- the score

/** @param {HTMLElement} section */
const askedIn = (section) =>
  blocksOf(section).flatMap((block) =>
    (block.matches(".question") ? [block] : linesOf(block)).map(nameAsked),
  );

const tell = () => {
  const names = staged ? askedIn(staged) : [];
  const here = names.filter((name) => outcomes.has(name)).length;
  const everywhere = [...outcomes.keys()];
  score.textContent = `This step: ${here} of ${names.length}${counted(names)}. All steps: ${everywhere.length}${counted(everywhere)}.`;
  handIn.textContent = data.key ? codeOf(practised()) : "";
};

// --- the steps

const nextStep = the("next-step", HTMLButtonElement);

const isTrying = () => tryButton.getAttribute("aria-pressed") === "true";

/** List the steps to ask, and begin with one of them. @param {HTMLElement} [wanted] */
const practiseFrom = (wanted) => {
  const there = practised();
  stepChoice.replaceChildren(...there.map((section) => new Option(titleOf(section), section.id)));
  const from = wanted ? sections.indexOf(wanted) : 0;
  const section = there.find((each) => sections.indexOf(each) >= from) || there[0];
  if (section) practise(section);
};

/** @param {Element} section */
const titleOf = (section) => section.querySelector("h2, h3")?.textContent || "";

/** Ask only some steps, by their names in the address. @param {string[]} names */
const chooseSteps = (names) => {
  chosenSteps.clear();
  names.filter(Boolean).forEach((name) => chosenSteps.add(name));
};

/** Offer every step to be chosen. */
const listSteps = () => {
  stepChecks.replaceChildren(
    ...askable().map((section) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "checkbox", value: stepName(section), checked: chosenSteps.has(stepName(section)) });
      return element("label", "", input, " ", titleOf(section));
    }),
  );
};

/** @param {HTMLElement} [section] */
const startTrying = (section) => {
  tryButton.setAttribute("aria-pressed", "true");
  tryingBar.hidden = false;
  walk([]);
  unfold();
  listSteps();
  practiseFrom(section);
};

const stopTrying = () => {
  if (!isTrying()) return;
  const section = staged;
  endStep();
  tryButton.setAttribute("aria-pressed", "false");
  tryingBar.hidden = true;
  section?.scrollIntoView();
};

const nameQuestions = () =>
  all(".question", text).forEach((question, i) => (question.dataset.name = `question ${i}`));

tryButton.addEventListener("click", () => {
  if (isTrying()) return stopTrying();
  const section = sectionToBegin();
  showEverything();
  startTrying(section);
});
stepChecks.addEventListener("change", () => {
  const checked = /** @type {HTMLInputElement[]} */ (all("input:checked", stepChecks));
  chooseSteps(checked.map(({ value }) => value));
  practiseFrom(staged || undefined);
});
the("again", HTMLButtonElement).addEventListener("click", () => {
  if (!staged) return;
  dropOutcomes(askedIn(staged));
  practise(staged);
});
the("clear-score", HTMLButtonElement).addEventListener("click", () => {
  dropOutcomes([...outcomes.keys()]);
  if (staged) practise(staged);
});
stepChoice.addEventListener("change", () => {
  const section = sections.find(({ id }) => id === stepChoice.value);
  if (section) practise(section);
});
nextStep.addEventListener("click", () => {
  stepChoice.selectedIndex = (stepChoice.selectedIndex + 1) % stepChoice.length;
  stepChoice.dispatchEvent(new Event("change"));
  (all(".attempt input", text)[0] || nextStep).focus();
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !isTrying()) return;
  stopTrying();
  tryButton.focus({ preventScroll: true });
});
select("token")?.addEventListener("change", () => {
  if (!isTrying()) return;
  const section = staged;
  endStep();
  practiseFrom(section || undefined);
});
