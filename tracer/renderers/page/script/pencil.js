// @ts-check

// The digits that a computed number keeps for the next calculation, and those that are printed.

const GUARD_OF_LARGEST = 3;
/** In full precision, exponentials from 10⁷ on are printed as 1.456×10⁹. */
const LARGE_POWER = 7;
const SCIENTIFIC_DECIMALS = 3;
const FLOAT_DIGITS = 13;
const MOST_DECIMALS = 12;

/** @typedef {{decimals?: number, significant?: number}} Digits */

/** The decimal places for a number; negative for a power of ten. @param {Digits} digits @param {Decimal} number */
const placesOf = ({ decimals = 0, significant }, number) => {
  const exponent = adjusted(number);
  if (exponent >= SCIENTIFIC_FROM) return (significant ?? 4) - 1 - exponent;
  if (significant !== undefined) return Math.max(0, significant - 1 - exponent);
  return visiblePlaces(number, decimals);
};

/** The rounding of a tape. */
class Pencil {
  /** @param {TapeData} tape */
  constructor(tape) {
    this.tape = tape;
    this.rounds = tape.carry !== "never";
    /** @type {Digits} */
    this.usual = { decimals: tape.decimals };
  }

  /** A number as it is printed: rounded, zeros kept or trimmed. @param {Decimal} number @param {number} places */
  printed(number, places) {
    const rounded = roundHalfAway(number, places);
    if (isZero(rounded)) return ZERO;
    return this.tape.trims ? trimmed(rounded) : rounded;
  }

  /** The numbers of a value to compute with; null if they are not rounded. @param {TapeValue} value @param {Decimal[]} numbers @param {TapeValue} [operand] */
  kept(value, numbers, operand) {
    if (!this.rounds) return null;
    const { rule, digits, significant } = value;
    if (rule === "whole") return numbers;
    if (rule === "all") return numbers.map((each) => this.readable(each));
    if (significant && !digits) return this.rounded(numbers, (x) => this.significantPlaces(significant, x));
    if (digits || this.tape.carry === "line") return this.rounded(numbers, (x) => placesOf(digits || this.usual, x));
    if (rule === "result") return this.rounded(numbers, (x) => placesOf(this.usual, x));
    if (rule === "working") return this.rounded(numbers, (x) => this.workingPlaces(x));
    return rule === "shared" ? this.shared(value, numbers, operand) : null;
  }

  /** A copied value, rounded if the author sets its digits. @param {TapeValue} value @param {Decimal[]} numbers */
  chosenCopy({ rule, digits }, numbers) {
    return digits && this.rounds && rule !== "exact" && rule !== "whole" ? this.rounded(numbers, (x) => placesOf(digits, x)) : null;
  }

  /** Exponentials and their sums share the decimals of their row of the operand. @param {TapeValue} value @param {Decimal[]} numbers @param {TapeValue} [operand] */
  shared({ shape }, numbers, operand) {
    const own = shape.length === 2 || !operand;
    const sources = own ? numbers : operand.numbers;
    const width = numbers.length / (shape[0] ?? 1);
    const across = sources.length / (shape[0] ?? 1);
    return numbers.map((number, i) => {
      const row = Math.floor(i / width);
      const decimals = this.sharedDecimals(sources.slice(row * across, (row + 1) * across));
      return this.roundedOne(number, (x) =>
        adjusted(x) >= SCIENTIFIC_FROM ? placesOf({ decimals: 0 }, x) : visiblePlaces(x, decimals),
      );
    });
  }

  /** @param {Decimal[]} row */
  sharedDecimals(row) {
    const largest = row.filter((x) => !isInfinite(x)).reduce((a, b) => (compare(a, b) >= 0 ? a : b), ZERO);
    if (isZero(largest)) return this.tape.decimals;
    return Math.max(0, this.tape.decimals + GUARD_OF_LARGEST - 1 - adjusted(largest));
  }

  /** More decimals, but no zeros behind an exact number. @param {Decimal} number */
  workingPlaces(number) {
    const { decimals, working } = this.tape;
    if (adjusted(number) >= SCIENTIFIC_FROM) return placesOf(this.usual, number);
    return this.withoutZeros(number, visiblePlaces(number, decimals + working));
  }

  /** The usual decimals, or as many as give the least significant digits. @param {number} significant @param {Decimal} number */
  significantPlaces(significant, number) {
    const usual = placesOf(this.usual, number);
    if (isZero(number) || adjusted(number) >= SCIENTIFIC_FROM) return usual;
    return this.withoutZeros(number, Math.max(usual, significant - 1 - adjusted(number)));
  }

  /** The decimals of a number, at most so many; the usual ones of an exact number. @param {Decimal} number @param {number} most */
  withoutZeros(number, most) {
    if (isZero(number) || compare(roundHalfAway(number, most), number)) return most;
    return Math.max(this.tape.decimals, -trimmed(number).e);
  }

  /** A sum, rounded if it has too many decimals to read. @param {Decimal} number */
  readable(number) {
    return -number.e > MOST_DECIMALS ? this.printed(number, placesOf(this.usual, number)) : number;
  }

  /** The decimals with which a number in full precision is printed. @param {TapeValue} value @param {Decimal} number */
  places({ rule, digits, significant }, number) {
    if (rule === "whole") return 0;
    let places = placesOf(digits || this.usual, number);
    if (significant && !digits) places = this.significantPlaces(significant, number);
    if (this.tape.floats) places = Math.min(places, FLOAT_DIGITS - 1 - adjusted(number));
    if (digits || rule !== "shared") return places;
    const exponent = adjusted(number);
    if (exponent >= LARGE_POWER) return SCIENTIFIC_DECIMALS - exponent;
    return Math.min(places, Math.max(0, this.tape.decimals + GUARD_OF_LARGEST - 1 - exponent));
  }

  /** The decimals of an intermediate number in a line: never fewer than usual. @param {TapeValue} value @param {Decimal} number */
  partPlaces({ digits }, number) {
    const usual = placesOf(this.usual, number);
    if (!digits || adjusted(number) >= SCIENTIFIC_FROM) return usual;
    return Math.max(placesOf(digits, number), usual);
  }

  /** An intermediate number of a line for a value, if lines carry what they print. @param {TapeValue} value @param {Decimal} number */
  part(value, number) {
    return this.tape.carry === "line" ? this.roundedOne(number, (x) => this.partPlaces(value, x)) : number;
  }

  /** @param {Decimal[]} numbers @param {(number: Decimal) => number} places */
  rounded(numbers, places) {
    return numbers.map((number) => this.roundedOne(number, places));
  }

  /** @param {Decimal} number @param {(number: Decimal) => number} places */
  roundedOne(number, places) {
    return isInfinite(number) ? number : this.printed(number, places(number));
  }

  /** An entry as printed, with at most so many digits more. @param {TapeValue} value @param {number} at @param {number} [guard] */
  number(value, at, guard = 0) {
    const number = value.numbers[at];
    if (value.asTheyAre || isInfinite(number)) return number;
    const places = this.places(value, number);
    return this.printed(number, guard ? guarded(number, places, guard) : places);
  }
}
