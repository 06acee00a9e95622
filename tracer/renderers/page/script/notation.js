// @ts-check

// Expressions as one line of plain text: (a×b + c×d) / √2. Parentheses are decided here. Numbers of
// the tape are marked, so that the line can be cut into pieces to point at.

/** How tightly an expression binds; inside a tighter one it gets parentheses. */
const BINDS = { sum: 0, product: 1, power: 2, atom: 3 };

const SIGNS = [..."0123456789-+Ees()L"];
const RAISED_SIGNS = [..."⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᴱᵉˢ⁽⁾ᴸ"];
const LOWERED_DIGITS = [..."₀₁₂₃₄₅₆₇₈₉"];

/** @param {string | number} text */
const superscript = (text) => [...String(text)].map((sign) => RAISED_SIGNS[SIGNS.indexOf(sign)] ?? sign).join("");

/** Signs that occur in no text. */
const [MARK_OPEN, MARK_BETWEEN, MARK_CLOSE] = ["\ufdd0", "\ufdd1", "\ufdd2"];
const MARKED = new RegExp(`${MARK_OPEN}([^${MARK_CLOSE}]*)${MARK_CLOSE}`);

/** A text, marked with the entries that it is put in from. @param {string} text @param {TapeEntry[]} entries */
const markedText = (text, entries) =>
  entries.length ? MARK_OPEN + [text, ...entries.map(({ of, at }) => `${of} ${at}`)].join(MARK_BETWEEN) + MARK_CLOSE : text;

/** The pieces of a marked text. @param {string} text @param {(entry: TapeEntry) => string} name @returns {Piece[]} */
const piecesOfMarked = (text, name) => {
  /** @param {string} entry */
  const named = (entry) => {
    const [of, at] = entry.split(" ").map(Number);
    return name({ of, at });
  };
  const pieces = text.split(MARKED).map((part, i) => {
    const [words, ...entries] = part.split(MARK_BETWEEN);
    return i % 2 ? [words, ...entries.map(named)] : words;
  });
  return pieces.filter((piece) => piece.length);
};

/** Whether a number is written with a power of ten: 2.1×10⁻⁵, 1.069×10¹³. @param {Decimal} number */
const isScientific = (number) => {
  const exponent = adjusted(number);
  if (isZero(number) || (exponent >= -PLAIN_ZEROS && exponent <= 0)) return false;
  return exponent < 0 || number.e > 0;
};

/** A number with its digits, as a power of ten where it is very large or very small. @param {Decimal} number */
const numberText = (number) => {
  const sign = number.c < 0n ? "-" : "";
  if (isInfinite(number)) return `${sign}∞`;
  if (!isScientific(number)) return textOf(number);
  const [first, ...others] = String(sizeOf(number.c));
  const mantissa = others.length ? `${first}.${others.join("")}` : first;
  return `${sign}${mantissa}×10${superscript(adjusted(number))}`;
};

/** @param {Decimal} number */
const bindingOfNumber = (number) => {
  if (number.c < 0n) return BINDS.sum;
  return isInfinite(number) || !isScientific(number) ? BINDS.atom : BINDS.product;
};

/** An expression as one line. @param {Expression} e */
const written = (e) => bound(e)[0];

/** The line, and how tightly it binds. @param {Expression} e @returns {[string, number]} */
const bound = (e) => {
  const [name, first, second] = e;
  const parts = e.slice(1);
  switch (name) {
    case "number":
      return [markedText(numberText(first), second ? [second] : []), bindingOfNumber(first)];
    case "rest":
      return [markedText(`[${first} more: ${written(second)}]`, e[3]), BINDS.atom];
    case "pi":
      return ["π", BINDS.atom];
    case "symbol":
      return [symbolText(e), BINDS.atom];
    case "sum":
      return [summands(parts).join(" "), BINDS.sum];
    case "difference":
      return [`${enclosed(first, BINDS.sum, true)} - ${enclosed(second, BINDS.product)}`, BINDS.sum];
    case "product":
      return [parts.map((each) => enclosed(each, BINDS.power)).join("×"), BINDS.product];
    case "quotient": {
      // (a×b) / c: with the parentheses nobody asks whether c divides b alone.
      const tight = first[0] === "product" ? BINDS.power : BINDS.product;
      return [`${enclosed(first, tight, true)} / ${enclosed(second, BINDS.power)}`, BINDS.product];
    }
    case "power":
      return [raised(baseText(first), second), BINDS.power];
    case "root":
      return [`√${enclosed(first, BINDS.atom)}`, BINDS.power];
    case "exponential":
      return [raised("e", first), BINDS.power];
    case "call":
      return [`${first}(${parts.slice(1).map(written).join(", ")})`, BINDS.atom];
    case "negative":
      return [`-${enclosed(first, BINDS.product)}`, BINDS.sum];
    case "matrixproduct":
      return [`${enclosed(first, BINDS.product)} · ${enclosed(second, BINDS.power)}`, BINDS.product];
    case "transposed":
      return [`${enclosed(first, BINDS.atom)}ᵀ`, BINDS.power];
    case "brackets":
      return [`[${parts.map(written).join(" ")}]`, BINDS.atom];
    default:
      throw new Error(`${name} stands in no line`);
  }
};

/** A base with an index below and one above. @param {Expression} e */
const symbolText = ([, base, below, above]) => {
  const isNumber = /^\d+$/.test(below);
  const digits = [...below].map((digit) => LOWERED_DIGITS[Number(digit)]).join("");
  return base + (isNumber ? digits : below && `_${below}`) + superscript(above);
};

/** A base; a symbol with an upper index gets parentheses, since that looks like a power. @param {Expression} e */
const baseText = (e) => (e[0] === "symbol" && e[3] ? `(${symbolText(e)})` : enclosed(e, BINDS.atom));

/** A base, in parentheses where it needs them, to a power. @param {string} base @param {Expression} exponent */
const raised = (base, exponent) => {
  const digits = exponent[0] === "number" ? numberText(exponent[1]) : "";
  const isDigit = digits === "2" || digits === "3";
  return isDigit ? base + superscript(digits) : `${base}^${enclosed(exponent, BINDS.atom)}`;
};

/** An operand; a negative number that comes first needs no parentheses. @param {Expression} e @param {number} binding @returns {string} */
const enclosed = (e, binding, isFirst = false) => {
  const [inner, binds] = bound(e);
  return binds >= binding || (isFirst && e[0] === "number") ? inner : `(${inner})`;
};

/** a + b - c: only a long sum of plain numbers takes their signs as its own. @param {Expression[]} terms */
const summands = ([first, ...others]) => {
  const isPlain = [first, ...others].every(([name, number]) => name === "number" && !isInfinite(number));
  const signed = others.flatMap((term) => {
    const [name, number, entry] = term;
    const takesSign = isPlain && others.length > 1 && number.c < 0n;
    return takesSign ? ["-", written([name, negate(number), entry])] : ["+", enclosed(term, BINDS.product)];
  });
  return [enclosed(first, BINDS.product, true), ...signed];
};
