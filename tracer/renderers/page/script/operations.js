// @ts-check

// The results of operations: sums of products, moves, choices.

/**
 * The result of an operation for its operands x.
 * @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {any[][]} x @returns {any[]}
 */
const result = (tape, value, inputs, x) => {
  const { operation, shape } = value;
  const { context } = tape;
  switch (operation.kind) {
    case "entry":
      return entries(tape, value, inputs, x);
    case "contract":
      return contracted(tape, value, inputs, x);
    case "group_extreme": {
      return [...Array(size(shape)).keys()].map((at) => {
        const numbers = groupEntries(operation, inputs[0].shape, indexOf(at, shape)).map((each) => x[0][each]);
        if (operation.of === "magnitude") return numbers.map(absolute).reduce(larger);
        return [ZERO, ...numbers].reduce(operation.of === "smallest" ? smaller : larger);
      });
    }
    case "gather":
      if (operation.columns) checkRouting(operation.columns, tape.values[value.logits ?? 0]);
      return gathered(operation, size(shape), x);
    case "max":
      return rowsOf(x[0], shape[0]).map((row) => orZero(row.reduce(larger)));
    case "running_max":
      return rowsOf(x[0], shape[0]).map((row, i) => [...row, ...x.slice(1).map((before) => before[i])].reduce(larger));
    case "rotate":
      return rotated(tape, value, inputs, x);
    case "div_term": {
      const base = operation.base === null ? x[0][0] : decimal(operation.base);
      return [...Array(shape[0]).keys()].map((k) => {
        const wave = power(base, divide(whole(-2 * k), whole(operation.width), context), context);
        return operation.factors.length ? divide(wave, decimal(operation.factors[k]), context) : wave;
      });
    }
    case "power_of_two":
      return [power(whole(2), divide(whole(operation.over), whole(operation.under), context), context)];
    case "mix_experts":
      return mixed(tape, value, x);
    case "cumulate":
      return rowsOf(x[0], shape[0]).flatMap((row) => {
        let total = ZERO;
        return row.map((each, i) => (total = i ? add(total, each, context) : each));
      });
    case "argmax": {
      const logits = rowsOf(x[1], shape[0]);
      return rowsOf(x[0], shape[0]).map((row, i) => operation.words[largest(row, logits[i])]);
    }
    case "pick": {
      const sums = rowsOf(x[0], inputs[0].shape[0]).at(-1) || [];
      const word = operation.words.find((/** @type {string} */ _, /** @type {number} */ i) => compare(x[1][0], sums[i]) < 0);
      return [word ?? operation.words.at(-1)];
    }
    default:
      throw new Error(`no operation ${operation.kind}`);
  }
};

/** The entries of a group of a matrix. @param {Operation} operation @param {number[]} shape @param {number[]} group */
const groupEntries = ({ height, width }, [, columns], [i, j]) =>
  [...Array(height * width).keys()].map((k) => (i * height + Math.floor(k / width)) * columns + j * width + (k % width));

/** @param {number[]} shape */
const size = (shape) => shape.reduce((a, b) => a * b, 1);
/** @template T @param {T[]} numbers @param {number} rows @returns {T[][]} */
const rowsOf = (numbers, rows) => {
  const width = numbers.length / rows;
  return [...Array(rows).keys()].map((i) => numbers.slice(i * width, (i + 1) * width));
};
/** @param {Decimal} a @param {Decimal} b */
const larger = (a, b) => (compare(a, b) >= 0 ? a : b);
/** @param {Decimal} a @param {Decimal} b */
const smaller = (a, b) => (compare(a, b) <= 0 ? a : b);
/** @param {Decimal} number */
const isHidden = (number) => isInfinite(number) && number.c < 0n;
/** The largest of a row that is masked as a whole is 0. @param {Decimal} number */
const orZero = (number) => (isHidden(number) ? ZERO : number);

/** The index of the largest probability; among equal ones, that of the largest logit. @param {Decimal[]} p @param {Decimal[]} z */
const largest = (p, z) => {
  const before = (/** @type {number} */ a, /** @type {number} */ b) => compare(p[b], p[a]) || compare(z[b], z[a]) || a - b;
  return [...p.keys()].sort(before)[0];
};

/** Refuse a state in which tokens go to other networks, which is another tape. @param {number[][]} columns @param {TapeValue} logits */
const checkRouting = (columns, logits) => {
  rowsOf(logits.computed, columns.length).forEach((row, i) => {
    const order = [...row.keys()].sort((a, b) => compare(row[b], row[a]) || a - b);
    const chosen = order.slice(0, columns[i].length).sort((a, b) => a - b);
    if (chosen.some((column, j) => column !== columns[i][j])) throw new OtherSteps("a token goes to other experts");
  });
};

// --- sums of products, and moves -----------------------------------------------------------------

/** The strides of the axes of an operand; "n+k" is an axis of n and of k. @param {string[]} axes @param {number[]} shape @param {string[]} wanted */
const strides = (axes, shape, wanted) =>
  wanted.map((axis) => {
    const at = axes.findIndex((each) => each.split("+").includes(axis));
    return at < 0 ? 0 : size(shape.slice(at + 1));
  });

/** How many terms a sum has. @param {Operation} operation @param {TapeValue[]} inputs @returns {number} */
const termsOf = ({ factors, summed }, inputs) => inputs[factors.length - 1].shape[factors[factors.length - 1].indexOf(summed)];

/** @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {Decimal[][]} x */
const contracted = (tape, value, inputs, x) => {
  const { factors, kept, summed, matrix, negative, divisor, of } = value.operation;
  const { context, pencil } = tape;
  if (of) return [tape.sum(of.map((/** @type {number} */ at) => x[0][at]))].map((total) => (divisor ? divide(total, whole(divisor), context) : total));
  const steps = factors.map((/** @type {string[]} */ axes, /** @type {number} */ k) => strides(axes, inputs[k].shape, [...kept, summed]));
  const length = termsOf(value.operation, inputs);
  const last = steps.map((/** @type {number[]} */ each) => each[kept.length]);
  const width = value.shape.at(-1) ?? 1;
  const bias = matrix ? x[2] : undefined;
  return [...Array(size(value.shape)).keys()].map((at) => {
    const index = indexOf(at, value.shape);
    const start = steps.map((/** @type {number[]} */ each) => index.reduce((sum, i, axis) => sum + i * each[axis], 0));
    const terms = [...Array(length).keys()].map((k) => {
      const a = x[0][start[0] + k * last[0]];
      return steps.length > 1 ? pencil.part(value, multiply(a, x[1][start[1] + k * last[1]], context)) : a;
    });
    if (bias) terms.unshift(bias[at % width]);
    const total = terms.length ? tape.sum(terms) : ZERO;
    if (divisor) return divide(total, whole(divisor), context);
    return negative ? negate(total) : total;
  });
};

/** @param {number} at @param {number[]} shape */
const indexOf = (at, shape) => {
  const index = [];
  for (let axis = shape.length - 1, rest = at; axis >= 0; rest = Math.floor(rest / shape[axis]), axis--) index[axis] = rest % shape[axis];
  return index;
};

/** @param {Operation} operation @param {number} length @param {Decimal[][]} x */
const gathered = ({ moves, others }, length, x) => {
  const found = Array(length).fill(decimal(others));
  for (const [operand, of, to] of moves) {
    const taken = of ? of.map((/** @type {number} */ at) => x[operand][at]) : x[operand];
    // One number may be moved to a whole column.
    (to || [...found.keys()]).forEach((/** @type {number} */ place, /** @type {number} */ k) => (found[place] = taken[k % taken.length]));
  }
  return found;
};

/** Pairs (a, b) of columns rotated: (a cos - b sin, a sin + b cos); the others stay. @param {Tape} tape @param {TapeValue} value @param {TapeValue[]} inputs @param {Decimal[][]} x */
const rotated = (tape, value, inputs, [of, cos, sin]) => {
  const { layout } = value.operation;
  const [, columns] = value.shape;
  const pairs = inputs[1].shape[1];
  const part = (/** @type {Decimal} */ a, /** @type {Decimal} */ b) => tape.pencil.part(value, multiply(a, b, tape.context));
  return of.map((number, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    if (column >= 2 * pairs) return number;
    const [pair, first, second] = pairOf(layout, column, pairs);
    const [c, s] = [cos[row * pairs + pair], sin[row * pairs + pair]];
    const [a, b] = [of[row * columns + first], of[row * columns + second]];
    return column === first ? tape.sum([part(a, c), negate(part(b, s))]) : tape.sum([part(a, s), part(b, c)]);
  });
};

/** The pair that a column is in, and its two columns. @param {string} layout @param {number} column @param {number} pairs */
const pairOf = (layout, column, pairs) => {
  if (layout !== "pairs") return [column % pairs, column % pairs, (column % pairs) + pairs];
  const pair = Math.floor(column / 2);
  return [pair, 2 * pair, 2 * pair + 1];
};

/** Each expert's rows times their weights, added up for each token. @param {Tape} tape @param {TapeValue} value @param {Decimal[][]} x */
const mixed = (tape, value, [weights, ...outputs]) => {
  const [tokens, width] = value.shape;
  /** @type {number[][]} */
  const rows = value.operation.rows;
  return [...Array(tokens * width).keys()].map((at) => {
    const [token, column] = [Math.floor(at / width), at % width];
    const terms = rows.flatMap((own, expert) => {
      const row = own.indexOf(token);
      if (row < 0) return [];
      const product = multiply(weights[token * rows.length + expert], outputs[expert][row * width + column], tape.context);
      return [tape.pencil.part(value, product)];
    });
    return terms.length ? tape.sum(terms) : ZERO;
  });
};
