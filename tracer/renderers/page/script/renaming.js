// @ts-check

// The tokens as fields; their names wherever they stand on the page.

const tokensSetting = data.tape?.settings.find(({ kind }) => kind === "tokens");
const tokenFields = data.live ? null : document.getElementById("tokens");
/** The letters of a name in the diagram, and in a drawing of arcs. */
const [IN_DIAGRAM, IN_ARCS] = [12, 14];

/** The labels of each value on the tape. */
const labelsOnTape = () => (tape?.values || []).map(({ labels }) => [...labels]);
/** Those that the page shows. */
let shownLabels = labelsOnTape();
/** The tokens that the page shows. */
let shownTokens = tokensSetting?.value;

/** A name, its middle left out where it is too long. @param {string} name @param {number} most */
const shortened = (name, most) => {
  const [letters, half] = [[...name], Math.floor((most - 1) / 2)];
  return letters.length > most ? `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}` : name;
};

/** @param {HTMLElement | null | undefined} place @param {string} name */
const rename = (place, name) => {
  if (place && place.textContent !== name) place.textContent = name;
};

/** Write the names of changed tokens in place of those before. */
const renameTokens = () => {
  const before = shownLabels;
  shownLabels = labelsOnTape();
  const tokens = shownLabels[tapeHere().values.indexOf(tapeHere().at("tokens"))][0];
  all("#token option").forEach((option, i) => rename(option, tokens[i]));
  for (const table of all("table.matrix", text)) renameTable(/** @type {HTMLTableElement} */ (table), before);
  for (const line of all("li[data-line]", text)) renameLine(line, before);
  for (const drawing of all(".plot.follows svg", text)) renameArcs(drawing);
  for (const [index, maps] of shownMaps) for (const map of maps) renameMap(map, before[index], shownLabels[index]);
  for (const drawing of all(".diagram svg", text)) renameLineOfTokens(all(".tokens", drawing).at(-1), tokens);
  offerNumber();
  walk(way);
};

/** The name in place of that of a row or a column; one that both have is that of the axis that comes first. @param {string} of @param {string} name @param {string[][][]} before @param {number[]} axes */
const renamed = (of, name, before, axes) => {
  const [old, now] = [before, shownLabels].map((labels) => labels[valueOf(of)]);
  const at = of.split(":")[1].split(",").filter(Boolean).map(Number);
  const axis = axes.find((each) => old?.[each]?.[at[each]] === name);
  return axis === undefined ? name : now[axis][at[axis]];
};

/** @param {HTMLTableElement} table @param {string[][][]} before */
const renameTable = (table, before) => {
  const isBars = table.classList.contains("bars");
  for (const row of table.tBodies[0].rows) {
    const of = all("[data-of]", row)[0]?.dataset.of;
    const head = row.querySelector("th");
    if (of && head) rename(head, renamed(of, head.textContent || "", before, isBars ? [1, 0] : [0, 1]));
  }
  const [first] = table.tBodies[0].rows;
  for (const head of table.tHead?.querySelectorAll("th") || []) {
    const { of } = first.cells[head.cellIndex].dataset;
    if (of) rename(head, renamed(of, head.textContent || "", before, [1, 0]));
  }
  if (isBars) renameCaption(table, before);
};

/** The caption of bars names their token: after “pizza”. @param {HTMLTableElement} table @param {string[][][]} before */
const renameCaption = (table, before) => {
  const [value, row = ""] = (all("[data-of]", table)[0]?.dataset.of || "").split(/[:,]/);
  const [old, now] = [before, shownLabels].map((labels) => `“${labels[Number(value)]?.[0]?.[Number(row)]}”`);
  rename(table.caption, table.caption?.textContent?.replace(old, () => now) || "");
  table.setAttribute("aria-label", table.caption?.textContent || "");
};

/** The label of a line names its row and column, or its column. @param {HTMLElement} line @param {string[][][]} before */
const renameLine = (line, before) => {
  const label = all(".label", line)[0];
  const { line: of = "" } = line.dataset;
  const at = of.split(":")[1].split(",").filter(Boolean).map(Number);
  const [old, now] = [before, shownLabels].map((labels) => at.map((i, axis) => labels[valueOf(of)]?.[axis][i]));
  for (const first of [0, 1]) {
    const [was, is] = [old, now].map((names) => `${names.slice(first).join(", ")}: `);
    if (label?.textContent === was) return rename(label, is);
  }
};

/** The keys are named in a row, the queries among them or in a row below. @param {HTMLElement} drawing */
const renameArcs = (drawing) => {
  const [rows, columns] = shownLabels[valueOf(all("[data-of]", drawing)[0].dataset.of || "")] || [];
  const [, ...names] = all("text:not([data-of])", drawing);
  const now = names.length > columns.length ? [...columns, ...rows] : columns;
  names.forEach((place, i) => rename(place, shortened(now[i], IN_ARCS)));
};

/** The rows of a heat map have names, in its title several. @param {HTMLElement} map @param {string[][]} before @param {string[][]} now */
const renameMap = (map, [before = []], [now = []]) => {
  const names = new Map(before.map((name, i) => [name, now[i]]));
  const short = new Map([...names].map(([old, name]) => [shortened(old, IN_DIAGRAM), shortened(name, IN_DIAGRAM)]));
  for (const title of all("title", map)) {
    rename(title, (title.textContent || "").split(" to ").map((name) => names.get(name) ?? name).join(" to "));
  }
  for (const place of all("text.small", map.parentElement || map)) {
    rename(place, short.get(place.textContent || "") ?? (place.textContent || ""));
  }
};

/** The tokens beside each other; those without room are counted. @param {HTMLElement | undefined} place @param {string[]} tokens */
const renameLineOfTokens = (place, tokens) => {
  const [old, now] = [shownTokens, present(/** @type {Setting} */ (tokensSetting))].map((all) => (all || "").split(" "));
  const isWhole = place?.textContent === old.map((name) => shortened(name, IN_DIAGRAM)).join("  ");
  rename(place, isWhole ? now.map((name) => shortened(name, IN_DIAGRAM)).join("  ") : `${tokens.length} tokens`);
};

// --- fields --------------------------------------------------------------------------------------

/** A field for each token, made when somebody wants to see them. */
const offerTokens = () => {
  const { choices, value } = /** @type {Setting} */ (tokensSetting);
  const fields = value.split(" ").map((_, i) => {
    const field = document.createElement("select");
    field.setAttribute("aria-label", `Token ${i + 1}`);
    field.append(...choices.map((word) => new Option(word)));
    return field;
  });
  tokenFields?.replaceChildren(...fields);
  showTokens();
};

const tokenSelects = () => /** @type {HTMLSelectElement[]} */ (all("select", tokenFields || undefined));

const showTokens = () => {
  const tokens = present(/** @type {Setting} */ (tokensSetting)).split(" ");
  tokenSelects().forEach((field, i) => (field.value = tokens[i]));
};

if (tokensSetting && tokenFields) {
  tokenFields.closest("details")?.addEventListener("toggle", () => tokenFields.children.length || offerTokens());
  tokenFields.addEventListener("change", (event) => {
    tryChange(/** @type {HTMLElement} */ (event.target), () => chooseSetting("tokens", tokenSelects().map(({ value }) => value).join(" ")));
    showTokens();
  });
  document.addEventListener("changed", () => {
    const tokens = present(tokensSetting);
    if (tokens === shownTokens) return;
    renameTokens();
    shownTokens = tokens;
    showTokens();
  });
}
