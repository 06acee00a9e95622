// @ts-check

// Try: each result is a blank; after the reader types one, show the verdict and the line.

const tryButton = the("try", HTMLButtonElement);
const score = the("score", HTMLOutputElement);
const CLASSES = { [RIGHT]: "right", [LAST_DIGIT]: "last-digit", [WRONG]: "wrong" };
/** @type {Record<string, number>} */
let judged = {};

/** The places of a number in the section of its line. @param {string} of @param {Element} line */
const placesBeside = (of, line) => {
  const section = line.closest("section");
  return (places.get(of) || []).filter((place) => place.closest("section") === section);
};

/** Ask for the result of a line, and hide the number where the section shows it. @param {HTMLElement} line */
const ask = (line) => {
  const of = line.dataset.line || "";
  const input = document.createElement("input");
  input.size = 9;
  input.inputMode = "decimal";
  input.autocomplete = "off";
  input.setAttribute("aria-label", `${nameOf(of)}, the result`);
  asked.set(of, line);
  for (const place of placesBeside(of, line)) {
    place.dataset.written = place.textContent || "";
    place.textContent = UNKNOWN;
    place.classList.add("blank");
  }
  const [result] = all(".result", line);
  result.hidden = true;
  result.after(element("span", "asked", `${entryOf(of).sign} `), input);
  input.addEventListener("change", () => judge(line, input));
  input.addEventListener("keydown", ({ key }) => key === "Enter" && nextAsked(input)?.focus());
};

/** @param {HTMLElement} line @param {HTMLInputElement} input */
const judge = (line, input) => {
  const of = line.dataset.line || "";
  if (!input.value.trim() || !asked.has(of)) return;
  const said = verdict(input.value, entryOf(of).result || "");
  judged[said] = (judged[said] || 0) + 1;
  input.readOnly = true;
  all(".asked", line).forEach((sign) => sign.remove());
  answer(line);
  const told = element("span", `verdict ${CLASSES[said]}`, said);
  told.setAttribute("role", "status");
  line.append(" ", told);
  tell();
};

/** Show the result that was asked for. @param {HTMLElement} line */
const answer = (line) => {
  const of = line.dataset.line || "";
  for (const place of placesBeside(of, line)) {
    if (place.dataset.written === undefined) continue;
    place.textContent = place.dataset.written;
    delete place.dataset.written;
    place.classList.remove("blank");
  }
  asked.delete(of);
  all(".result", line)[0].hidden = false;
};

/** The next result to be typed. @param {HTMLInputElement} input */
const nextAsked = (input) => {
  const there = all(".working input", text);
  return there.slice(there.indexOf(input) + 1).find((next) => next.checkVisibility());
};

const tell = () => {
  const done = Object.values(judged).reduce((a, b) => a + b, 0);
  const parts = [RIGHT, LAST_DIGIT, WRONG].map((said) => `${judged[said] || 0} ${said}`);
  score.textContent = `${parts.join(", ")}, of ${done + asked.size}`;
};

const isTrying = () => tryButton.getAttribute("aria-pressed") === "true";

const startTrying = () => {
  tryButton.setAttribute("aria-pressed", "true");
  walk([]);
  judged = {};
  for (const line of all("li.drawn", text)) {
    if (!line.closest("[data-for][hidden]") && !asked.has(line.dataset.line || "")) ask(line);
  }
  tell();
};

const stopTrying = () => {
  tryButton.setAttribute("aria-pressed", "false");
  [...asked.values()].forEach(answer);
  for (const result of all("li.drawn .result", text)) {
    while (result.nextSibling) result.nextSibling.remove();
  }
  score.textContent = "";
};

tryButton.addEventListener("click", () => (isTrying() ? stopTrying() : startTrying()));
select("token")?.addEventListener("change", () => {
  if (!isTrying()) return;
  stopTrying();
  startTrying();
});
