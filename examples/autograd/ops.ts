/** The operators. Each backward is made of operators too, so it can be differentiated again. */
import { record, Tensor } from "./tensor.ts";

type Unary = (x: Tensor) => Tensor;
type Binary = (x: Tensor, y: Tensor) => Tensor;

function map(x: Tensor, fn: (value: number, index: number) => number): Tensor {
  return new Tensor(x.rows, x.columns, x.data.map(fn));
}

/** An operator on each number; `slope` is its derivative, given input and output. */
function unary(name: string, fn: (value: number) => number, slope: Binary): Unary {
  return (x) => {
    const output = record(name, map(x, fn), [x], (g) => [mul(g, slope(x, output))]);
    return output;
  };
}

/** An operator on pairs of numbers. */
function binary(
  name: string,
  fn: (left: number, right: number) => number,
  backward: (g: Tensor, x: Tensor, y: Tensor) => [Tensor, Tensor],
): Binary {
  return (x, y) => {
    if (x.rows !== y.rows || x.columns !== y.columns) {
      throw new RangeError(
        `Cannot ${name} ${x.rows}×${x.columns} and ${y.rows}×${y.columns}: shapes must be equal`,
      );
    }
    return record(name, map(x, (v, i) => fn(v, y.data[i])), [x, y], (g) => backward(g, x, y));
  };
}

export const add = binary("add", (a, b) => a + b, (g) => [g, g]);
export const sub = binary("sub", (a, b) => a - b, (g) => [g, scale(g, -1)]);
export const mul = binary("mul", (a, b) => a * b, (g, x, y) => [mul(g, y), mul(g, x)]);
export const div = binary(
  "div",
  (a, b) => a / b,
  (g, x, y) => [div(g, y), scale(div(mul(g, x), mul(y, y)), -1)],
);

export const exp = unary("exp", Math.exp, (_, output) => output);
export const log = unary("log", Math.log, (x) => div(ones(x), x));
export const tanh = unary("tanh", Math.tanh, (x, output) => sub(ones(x), mul(output, output)));
export const relu = unary("relu", (v) => Math.max(v, 0), (x) => map(x, (v) => v > 0 ? 1 : 0));

export function scale(x: Tensor, factor: number): Tensor {
  return record("scale", map(x, (v) => v * factor), [x], (g) => [scale(g, factor)]);
}

export function transpose(x: Tensor): Tensor {
  const output = map(new Tensor(x.columns, x.rows, x.data), (_, i) => {
    return x.data[(i % x.rows) * x.columns + Math.floor(i / x.rows)];
  });
  return record("transpose", output, [x], (g) => [transpose(g)]);
}

export function matmul(x: Tensor, y: Tensor): Tensor {
  if (x.columns !== y.rows) {
    throw new RangeError(
      `Cannot matmul ${x.rows}×${x.columns} and ${y.rows}×${y.columns}: inner sizes must be equal`,
    );
  }
  const output = Tensor.full(x.rows, y.columns, 0);
  for (let r = 0; r < x.rows; r++) {
    for (let k = 0; k < x.columns; k++) {
      const left = x.data[r * x.columns + k];
      for (let c = 0; c < y.columns; c++) {
        output.data[r * y.columns + c] += left * y.data[k * y.columns + c];
      }
    }
  }
  const backward = (g: Tensor) => [matmul(g, transpose(y)), matmul(transpose(x), g)];
  return record("matmul", output, [x, y], backward);
}

const ones: Unary = (x) => Tensor.full(x.rows, x.columns, 1);

/** The sum of each row, as one column. */
export const sumColumns: Unary = (x) => matmul(x, Tensor.full(x.columns, 1, 1));

/** The sum of each column, as one row. */
export const sumRows: Unary = (x) => matmul(Tensor.full(1, x.rows, 1), x);

/** The sum of all numbers, 1 × 1. */
export const sum: Unary = (x) => sumColumns(sumRows(x));

/** One row, as often as there are rows to add it to. */
export const repeatRow = (x: Tensor, rows: number): Tensor => matmul(Tensor.full(rows, 1, 1), x);

/** One column, as often as there are columns to divide by it. */
export const repeatColumn = (x: Tensor, columns: number): Tensor =>
  matmul(x, Tensor.full(1, columns, 1));

/** The mean cross-entropy of the rows' softmax against one-hot targets, 1 × 1. */
export function crossEntropy(logits: Tensor, targets: Tensor): Tensor {
  const total = repeatColumn(sumColumns(exp(logits)), logits.columns);
  return scale(sum(mul(targets, sub(logits, log(total)))), -1 / logits.rows);
}
