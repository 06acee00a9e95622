// @ts-check

// Expressions as one line of plain text: (a×b + c×d) / √2. Parentheses are decided here.

/** How tightly an expression binds; inside a tighter one it gets parentheses. */
const [BINDS_SUM, BINDS_PRODUCT, BINDS_POWER, BINDS_ATOM] = [0, 1, 2, 3];

const RAISED_SIGNS = new Map([..."0123456789-+Ees()L"].map((sign, i) => [sign, [..."⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᴱᵉˢ⁽⁾ᴸ"][i]]));
const LOWERED_DIGITS = [..."₀₁₂₃₄₅₆₇₈₉"];

/** @param {string} text */
const superscript = (text) => text.replace(/./gu, (sign) => RAISED_SIGNS.get(sign) ?? sign);

/** Whether a number is written with a power of ten: 2.1×10⁻⁵, 1.069×10¹³. @param {Decimal} number */
const isScientific = (number) => {
  const exponent = adjusted(number);
  if (isZero(number) || (exponent >= -PLAIN_ZEROS && exponent <= 0)) return false;
  return exponent < 0 || number.e > 0;
};

/** @param {Decimal} number */
const bindingOfNumber = (number) => {
  if (number.c < 0n) return BINDS_SUM;
  return !isInfinite(number) && isScientific(number) ? BINDS_PRODUCT : BINDS_ATOM;
};

/** A number with its digits, as a power of ten where it is very large or very small. @param {Decimal} number */
const numberText = (number) => {
  const sign = number.c < 0n ? "-" : "";
  if (isInfinite(number)) return `${sign}∞`;
  if (!isScientific(number)) return textOf(number);
  const [first, ...others] = textOf(absolute({ ...number, e: 0 }));
  const mantissa = others.length ? `${first}.${others.join("")}` : first;
  return `${sign}${mantissa}×10${superscript(String(adjusted(number)))}`;
};

/** Writes expressions as plain text; a subclass can mark the numbers. */
class Notation {
  /** @param {Expression} e */
  number([, number]) {
    return numberText(number);
  }

  /** The terms of a sum that are not written out. @param {Expression} e */
  rest([, terms, total]) {
    return `[${terms} more: ${numberText(total[1])}]`;
  }

  /** An expression as one line. @param {Expression} e */
  write(e) {
    return this.bound(e)[0];
  }

  /** The line, and how tightly it binds. @param {Expression} e @returns {[string, number]} */
  bound(e) {
    const [name, first, second] = e;
    const parts = e.slice(1);
    switch (name) {
      case "number":
        return [this.number(e), bindingOfNumber(first)];
      case "rest":
        return [this.rest(e), BINDS_ATOM];
      case "pi":
        return ["π", BINDS_ATOM];
      case "symbol":
        return [this.symbol(e), BINDS_ATOM];
      case "sum":
        return [this.summands(parts).join(" "), BINDS_SUM];
      case "difference":
        return [`${this.inside(first, BINDS_SUM, true)} - ${this.inside(second, BINDS_PRODUCT)}`, BINDS_SUM];
      case "product":
        return [parts.map((each) => this.inside(each, BINDS_POWER)).join("×"), BINDS_PRODUCT];
      case "quotient": {
        // (a×b) / c: with the parentheses nobody asks whether c divides b alone.
        const tight = first[0] === "product" ? BINDS_POWER : BINDS_PRODUCT;
        return [`${this.inside(first, tight, true)} / ${this.inside(second, BINDS_POWER)}`, BINDS_PRODUCT];
      }
      case "power":
        return [this.raised(this.base(first), second), BINDS_POWER];
      case "root":
        return [`√${this.inside(first, BINDS_ATOM)}`, BINDS_POWER];
      case "exponential":
        return [this.raised("e", first), BINDS_POWER];
      case "call":
        return [`${first}(${parts.slice(1).map((each) => this.write(each)).join(", ")})`, BINDS_ATOM];
      case "negative":
        return [`-${this.inside(first, BINDS_PRODUCT)}`, BINDS_SUM];
      case "matrixproduct":
        return [`${this.inside(first, BINDS_PRODUCT)} · ${this.inside(second, BINDS_POWER)}`, BINDS_PRODUCT];
      case "transposed":
        return [`${this.inside(first, BINDS_ATOM)}ᵀ`, BINDS_POWER];
      case "brackets":
        return [`[${parts.map((each) => this.write(each)).join(" ")}]`, BINDS_ATOM];
      default:
        throw new Error(`${name} stands in no line`);
    }
  }

  /** A base with an index below and one above. @param {Expression} e */
  symbol([, base, below, above]) {
    const isNumber = /^\d+$/.test(below);
    const lower = isNumber ? [...below].map((digit) => LOWERED_DIGITS[Number(digit)]).join("") : below && `_${below}`;
    return base + lower + superscript(above);
  }

  /** A symbol with an upper index gets parentheses, since that looks like a power. @param {Expression} e */
  base(e) {
    const inner = this.inside(e, BINDS_ATOM);
    return e[0] === "symbol" && e[3] ? `(${inner})` : inner;
  }

  /** A base, in parentheses where it needs them, to a power. @param {string} base @param {Expression} exponent */
  raised(base, exponent) {
    const digit = exponent[0] === "number" ? numberText(exponent[1]) : "";
    if (digit === "2" || digit === "3") return base + superscript(digit);
    return `${base}^${this.inside(exponent, BINDS_ATOM)}`;
  }

  /** An operand; a negative number that comes first needs no parentheses. @param {Expression} e @param {number} binding */
  inside(e, binding, isFirst = false) {
    const [inner, binds] = this.bound(e);
    return binds >= binding || (isFirst && e[0] === "number") ? inner : `(${inner})`;
  }

  /** a + b - c: only a long sum of plain numbers takes their signs as its own. @param {Expression[]} terms */
  summands([first, ...others]) {
    const plain = [first, ...others].every(([name, number]) => name === "number" && !isInfinite(number));
    const written = [this.inside(first, BINDS_PRODUCT, true)];
    for (const term of others) {
      if (plain && others.length > 1 && term[1].c < 0n) {
        written.push("-", this.write(["number", negate(term[1]), term[2]]));
      } else {
        written.push("+", this.inside(term, BINDS_PRODUCT));
      }
    }
    return written;
  }
}

/** Signs that occur in no text. */
const [MARK_OPEN, MARK_BETWEEN, MARK_CLOSE] = ["\ufdd0", "\ufdd1", "\ufdd2"];
const MARKED = new RegExp(`${MARK_OPEN}([^${MARK_CLOSE}]*)${MARK_CLOSE}`);

/** Plain text with marked numbers between special signs, for `piecesOfMarked`. */
class Marking extends Notation {
  /** @param {(entry: TapeEntry) => string} nameOfEntry */
  constructor(nameOfEntry) {
    super();
    this.nameOfEntry = nameOfEntry;
  }

  /** @param {Expression} e */
  number(e) {
    return this.marked(super.number(e), e[2] ? [e[2]] : []);
  }

  /** @param {Expression} e */
  rest(e) {
    return this.marked(super.rest(e), e[3]());
  }

  /** @param {string} written @param {TapeEntry[]} entries */
  marked(written, entries) {
    const names = entries.map(this.nameOfEntry);
    return names.length ? MARK_OPEN + [written, ...names].join(MARK_BETWEEN) + MARK_CLOSE : written;
  }
}

/** The text in pieces: text, or text that is put in from entries, whose names follow it. @param {string} marked */
const piecesOfMarked = (marked) =>
  marked
    .split(MARKED)
    .map((part, i) => (i % 2 ? part.split(MARK_BETWEEN) : part))
    .filter((part) => part.length);
