// @ts-check

// Compare a typed number with the printed one, rounded by the same rule as all numbers.

const RIGHT = "correct";
const LAST_DIGIT = "last digit off";
const SHORT = "correct so far";
const WRONG = "wrong";
const UNREADABLE = "not a number";
const RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";

/** @param {string} power */
const lowered = (power) => power.replace(/[^-0-9]/g, (sign) => "-0123456789"[RAISED.indexOf(sign)]);

/** A decimal as digits × 10^-places; null, if it is none. @param {string} written */
const readNumber = (written) => {
  const plain = written
    .replace(/\s/g, "")
    .replace(/[−–]/g, "-")
    .replace(",", ".")
    .replace(/[×·x*]10\^?\(?([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[-+]?[0-9]+)\)?$/, (_, power) => `e${lowered(power)}`);
  const found = /^([-+]?)([0-9]*)\.?([0-9]*)(?:e([-+]?[0-9]{1,3}))?$/i.exec(plain);
  if (!found || !(found[2] + found[3])) return null;
  const digits = BigInt(found[2] + found[3]);
  const places = found[3].length - Number(found[4] || 0);
  return { digits: found[1] === "-" ? -digits : digits, places };
};

/** Round half away from zero. @param {{digits: bigint, places: number}} number @param {number} places */
const digitsAt = ({ digits, places: own }, places) => {
  if (own <= places) return digits * 10n ** BigInt(places - own);
  const unit = 10n ** BigInt(own - places);
  const size = digits < 0n ? -digits : digits;
  const whole = (2n * size + unit) / (2n * unit);
  return digits < 0n ? -whole : whole;
};

/** The places that the digits of a number fill: 105000 fills -3. @param {{digits: bigint, places: number}} number */
const filled = ({ digits, places }) => {
  while (digits && places <= 0 && digits % 10n === 0n) [digits, places] = [digits / 10n, places - 1];
  return places;
};

/** The verdict on a typed number. @param {string} typed @param {string} printed */
const verdict = (typed, printed) => {
  if (printed.includes("∞")) return /^[-−]?\s*(∞|inf)/i.test(typed.trim()) ? RIGHT : WRONG;
  const [ours, theirs] = [readNumber(printed), readNumber(typed)];
  if (!theirs) return UNREADABLE;
  if (!ours) return WRONG;
  const off = digitsAt(theirs, ours.places) - ours.digits;
  if (off === 0n) return RIGHT;
  const places = filled(theirs);
  if (theirs.digits && places < ours.places && digitsAt(ours, places) === digitsAt(theirs, places)) return SHORT;
  return off === 1n || off === -1n ? LAST_DIGIT : WRONG;
};

/** How many digits an answer takes. @param {string} printed */
const digitsWanted = (printed) => {
  const { digits, places } = readNumber(printed) || { digits: 0n, places: 0 };
  const size = String(digits < 0n ? -digits : digits).length;
  if (printed.includes("∞")) return "a number or ∞";
  if (printed.includes("×")) return `${size} significant ${size > 1 ? "digits" : "digit"}`;
  if (places > 0) return `${places} ${places > 1 ? "decimals" : "decimal"}`;
  return "a whole number";
};

/** @param {{digits: bigint, places: number}} number */
const unsigned = ({ digits, places }) => ({ digits: digits < 0n ? -digits : digits, places });

/**
 * Whether a number in a text shows an answer: also rounded, as a percentage, with another sign.
 * @param {string} written @param {string} answer
 */
const repeats = (written, answer) => {
  const [found, other] = [readNumber(written), readNumber(answer)];
  if (!found || !other) return false;
  const [shown, asked] = [unsigned(found), unsigned(other)];
  if (shown.digits < 10n) return shown.digits === asked.digits && shown.places === asked.places;
  return [shown, { ...shown, places: shown.places + 2 }].some(
    (number) => digitsAt(asked, number.places) === number.digits || digitsAt(number, asked.places) === asked.digits,
  );
};
