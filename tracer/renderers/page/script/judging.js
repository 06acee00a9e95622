// @ts-check

// Compare a typed number with the printed one, rounded by the same rule as all numbers.

const RIGHT = "correct";
const LAST_DIGIT = "last digit off";
const WRONG = "wrong";
const RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";

/** @param {string} power */
const lowered = (power) => power.replace(/[^-0-9]/g, (sign) => "-0123456789"[RAISED.indexOf(sign)]);

/** A decimal as digits × 10^-places; null, if it is none. @param {string} written */
const decimal = (written) => {
  const plain = written
    .replace(/\s/g, "")
    .replace(/[−–]/g, "-")
    .replace(",", ".")
    .replace(/[×x*]10\^?([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|-?[0-9]+)$/, (_, power) => `e${lowered(power)}`);
  const found = /^([-+]?)([0-9]*)\.?([0-9]*)(?:e([-+]?[0-9]{1,3}))?$/i.exec(plain);
  if (!found || !(found[2] + found[3])) return null;
  const digits = BigInt(found[2] + found[3]);
  const places = found[3].length - Number(found[4] || 0);
  return { digits: found[1] === "-" ? -digits : digits, places };
};

/** Round half away from zero. @param {{digits: bigint, places: number}} number @param {number} places */
const rounded = ({ digits, places: own }, places) => {
  if (own <= places) return digits * 10n ** BigInt(places - own);
  const unit = 10n ** BigInt(own - places);
  const size = digits < 0n ? -digits : digits;
  const whole = (2n * size + unit) / (2n * unit);
  return digits < 0n ? -whole : whole;
};

/** The verdict on a typed number. @param {string} typed @param {string} printed */
const verdict = (typed, printed) => {
  if (printed.includes("∞")) return /^[-−]?\s*(∞|inf)/i.test(typed.trim()) ? RIGHT : WRONG;
  const [ours, theirs] = [decimal(printed), decimal(typed)];
  if (!ours || !theirs) return WRONG;
  const off = rounded(theirs, ours.places) - ours.digits;
  if (off === 0n) return RIGHT;
  return off === 1n || off === -1n ? LAST_DIGIT : WRONG;
};
