// @ts-check

// Buttons, settings and tokens; and what others change.

const lab = the("lab", HTMLDivElement);
const undoButton = the("undo", HTMLButtonElement);
const resetButton = the("reset", HTMLButtonElement);
const firstFrame = document.getElementById("first");
/** The newest version of the page that exists. */
let newest = 0;

/** Say what went wrong, at the setting that it is about if there is one. @param {unknown} error @param {Element | null} [setting] */
const report = (error, setting) => {
  all(".refused", lab).forEach((before) => before.remove());
  const message = error instanceof Error ? error.message : String(error);
  if (!setting) problemText.textContent = message;
  else setting.after(element("span", "refused", message));
  setting?.toggleAttribute("aria-invalid", true);
  speak(message);
};

/** Show the page that follows a question to the engine. @param {Promise<string>} asked @param {Element} [setting] */
const showNext = async (asked, setting) => {
  try {
    replace(await asked);
  } catch (error) {
    report(error, setting);
  }
};

/** Show what somebody else has changed, or the file. */
const catchUp = async () => {
  if (sending || newest <= (data.live?.version || 0)) return;
  sending = true;
  await showNext(engine.state());
  sending = false;
};

const chosenTokens = () => all("#tokens select", lab).map((each) => /** @type {HTMLSelectElement} */ (each).value);

/** @param {string[]} tokens */
const changeTokens = (tokens) => showNext(engine.edit({ tokens }));

/** The page beside this one, which is that of the file. */
const showFirst = () => {
  const src = `${engine.address("first")}&version=${data.live?.first}`;
  if (firstFrame instanceof HTMLIFrameElement && firstFrame.getAttribute("src") !== src) firstFrame.src = src;
};

/** Show in the page beside this one the level, token, layer and head of this one, and scroll it to the section that is read here. */
const leadFirst = () => {
  const frame = firstFrame instanceof HTMLIFrameElement ? firstFrame.contentWindow : null;
  if (!frame) return;
  for (const id of ["level", "token", "layer", "head"]) {
    const its = /** @type {HTMLSelectElement | null} */ (frame.document.getElementById(id));
    const wanted = select(id)?.value;
    if (!its || its.value === wanted || ![...its.options].some(({ value }) => value === wanted)) continue;
    its.value = wanted || "";
    its.dispatchEvent(new Event("change", { bubbles: true }));
  }
  const here = anchored();
  const there = here && frame.document.getElementById(here.id);
  if (!there) return;
  there.closest("details")?.toggleAttribute("open", true);
  frame.scrollBy(0, there.getBoundingClientRect().top - here.getBoundingClientRect().top);
};

the("download", HTMLAnchorElement).href = engine.address("scenario.yaml");
undoButton.addEventListener("click", () => {
  undo(); // at once, if the page has made the change itself
  showNext(engine.undo());
});
controls.addEventListener("click", (event) => under(event, "#apply-kept") && showNext(engine.applyKept()));
resetButton.addEventListener("click", () => showNext(engine.reset()));
lab.addEventListener("change", (event) => {
  const setting = event.target;
  event.stopPropagation();
  if (!(setting instanceof HTMLInputElement || setting instanceof HTMLSelectElement)) return;
  if (setting.closest("#tokens")) changeTokens(chosenTokens());
  else showNext(engine.edit({ control: setting.name, value: setting.value.trim() }), setting);
});
lab.addEventListener("click", (event) => {
  const at = all("#tokens .remove", lab).findIndex((remove) => remove === event.target);
  const tokens = chosenTokens();
  if (at >= 0) changeTokens(tokens.filter((_, i) => i !== at));
  else if (under(event, "#add")) changeTokens([...tokens, tokens[tokens.length - 1]]);
});
document.addEventListener("keydown", (event) => {
  const own = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (own || staged || event.key !== "z" || !(event.ctrlKey || event.metaKey) || undoButton.disabled) return;
  event.preventDefault();
  showNext(engine.undo());
});
document.addEventListener("replaced", (event) => {
  const next = /** @type {CustomEvent<Document>} */ (event).detail;
  for (const id of ["settings", "tokens"]) {
    const [now, then] = [document, next].map((each) => each.getElementById(id));
    if (!now || !then) continue;
    const focused = now.contains(document.activeElement) && document.activeElement?.getAttribute("name");
    now.replaceChildren(...document.importNode(then, true).childNodes);
    if (focused) all("[name]", now).find((each) => each.getAttribute("name") === focused)?.focus();
  }
  undoButton.disabled = !!next.querySelector("#undo[disabled]");
  resetButton.disabled = !!next.querySelector("#reset[disabled]");
  problemText.textContent = next.getElementById("problem")?.textContent || "";
  the("kept", HTMLParagraphElement).replaceWith(document.importNode(/** @type {Node} */ (next.getElementById("kept")), true));
  the("without-words", HTMLSpanElement).hidden = !!next.querySelector("#without-words[hidden]");
  the("changes", HTMLSpanElement).textContent = changesText();
  speak(changesText());
  showFirst();
});
const ENDED = "The program has ended. Start it again to change numbers; this page stays as it is.";
engine.follow(
  (version) => {
    newest = Math.max(newest, version);
    if (problemText.textContent === ENDED) problemText.textContent = "";
    catchUp();
  },
  () => report(ENDED),
);
if (firstFrame) document.body.classList.replace("with-diagram", "compared") || document.body.classList.add("compared");
if (firstFrame) {
  window.addEventListener("scroll", leadFirst, { passive: true });
  controls.addEventListener("change", leadFirst);
  firstFrame.addEventListener("load", leadFirst);
}
showFirst();
