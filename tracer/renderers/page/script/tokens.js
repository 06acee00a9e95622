// @ts-check

// The tokens of a pass: each chooses the row of its word in the table of embeddings, and names rows.

/** @typedef {{written: string, numbers: any[], places: number[], id?: string}} Word as YAML has it, its row */

/** Whether tokens are as many as the setting has, all of them known. @param {Setting} setting @param {string} to */
const areTokens = ({ value, choices }, to) => {
  const words = to.split(" ");
  return words.length === value.split(" ").length && words.every((word) => choices.includes(word));
};

/** Read other tokens; return the values on the tape that change with them. @param {Tape} tape @param {Setting} setting @param {string} to */
const setTokens = ({ values, data }, { values: about }, to) => {
  const tokens = to.split(" ");
  const rows = tokens.map((token) => data.words[token]);
  for (const value of about.map((i) => values[i])) {
    if (value.words) value.numbers = tokens;
    else if (value.address === "token_ids") value.numbers = rows.map(({ id = "" }) => decimal(id));
    else {
      value.numbers = rows.flatMap(({ numbers }) => numbers);
      value.places = rows.flatMap(({ places }) => places);
    }
    value.computed = value.numbers;
  }
  for (const value of values) value.tokens?.forEach((named, axis) => named && (value.labels[axis] = namesOf(tokens, named)));
  return new Set(about);
};

/** The names of all tokens, or of some and further ones. @param {string[]} tokens @param {true | (number | string)[]} named */
const namesOf = (tokens, named) =>
  distinct(named === true ? tokens : named.map((each) => (typeof each === "number" ? tokens[each] : each)));

/** Names that occur twice get their position behind them: red (1), red (2). @param {string[]} names */
const distinct = (names) => {
  const numbered = new Set();
  let found = names;
  while (new Set(found).size < found.length) {
    found.forEach((name, i) => found.indexOf(name) !== found.lastIndexOf(name) && numbered.add(i));
    found = names.map((name, i) => (numbered.has(i) ? `${name} (${i + 1})` : name));
  }
  return found;
};
