/** The operators. Each backward is made of operators too, so it can be differentiated again. */
import { record, Tensor } from "./tensor.ts";

function map(x: Tensor, fn: (value: number, index: number) => number): Tensor {
  return new Tensor(x.rows, x.columns, x.data.map(fn));
}

function checkSameShape(name: string, x: Tensor, y: Tensor): void {
  if (x.rows !== y.rows || x.columns !== y.columns) {
    throw new RangeError(
      `Cannot ${name} ${x.rows}×${x.columns} and ${y.rows}×${y.columns}: shapes must be equal`,
    );
  }
}

export function add(x: Tensor, y: Tensor): Tensor {
  checkSameShape("add", x, y);
  return record("add", map(x, (v, i) => v + y.data[i]), [x, y], (g) => [g, g]);
}

export function sub(x: Tensor, y: Tensor): Tensor {
  checkSameShape("sub", x, y);
  return record("sub", map(x, (v, i) => v - y.data[i]), [x, y], (g) => [g, scale(g, -1)]);
}

export function mul(x: Tensor, y: Tensor): Tensor {
  checkSameShape("mul", x, y);
  return record("mul", map(x, (v, i) => v * y.data[i]), [x, y], (g) => [mul(g, y), mul(g, x)]);
}

export function div(x: Tensor, y: Tensor): Tensor {
  checkSameShape("div", x, y);
  return record(
    "div",
    map(x, (v, i) => v / y.data[i]),
    [x, y],
    (g) => [div(g, y), scale(div(mul(g, x), mul(y, y)), -1)],
  );
}

export function scale(x: Tensor, factor: number): Tensor {
  return record("scale", map(x, (v) => v * factor), [x], (g) => [scale(g, factor)]);
}

export function exp(x: Tensor): Tensor {
  const output = record("exp", map(x, Math.exp), [x], (g) => [mul(g, output)]);
  return output;
}

export function log(x: Tensor): Tensor {
  return record("log", map(x, Math.log), [x], (g) => [div(g, x)]);
}

export function tanh(x: Tensor): Tensor {
  const output = record(
    "tanh",
    map(x, Math.tanh),
    [x],
    (g) => [sub(g, mul(g, mul(output, output)))],
  );
  return output;
}

export function relu(x: Tensor): Tensor {
  const open = map(x, (v) => v > 0 ? 1 : 0);
  return record("relu", map(x, (v) => Math.max(v, 0)), [x], (g) => [mul(g, open)]);
}

export function transpose(x: Tensor): Tensor {
  const data = new Float64Array(x.data.length);
  for (let r = 0; r < x.rows; r++) {
    for (let c = 0; c < x.columns; c++) data[c * x.rows + r] = x.data[r * x.columns + c];
  }
  return record("transpose", new Tensor(x.columns, x.rows, data), [x], (g) => [transpose(g)]);
}

export function matmul(x: Tensor, y: Tensor): Tensor {
  if (x.columns !== y.rows) {
    throw new RangeError(
      `Cannot matmul ${x.rows}×${x.columns} and ${y.rows}×${y.columns}: inner sizes must be equal`,
    );
  }
  const data = new Float64Array(x.rows * y.columns);
  for (let r = 0; r < x.rows; r++) {
    for (let k = 0; k < x.columns; k++) {
      const left = x.data[r * x.columns + k];
      for (let c = 0; c < y.columns; c++) {
        data[r * y.columns + c] += left * y.data[k * y.columns + c];
      }
    }
  }
  return record(
    "matmul",
    new Tensor(x.rows, y.columns, data),
    [x, y],
    (g) => [matmul(g, transpose(y)), matmul(transpose(x), g)],
  );
}

/** The sum of each row, as one column. */
export function sumColumns(x: Tensor): Tensor {
  return matmul(x, Tensor.full(x.columns, 1, 1));
}

/** The sum of each column, as one row. */
export function sumRows(x: Tensor): Tensor {
  return matmul(Tensor.full(1, x.rows, 1), x);
}

/** The sum of all numbers, 1 × 1. */
export function sum(x: Tensor): Tensor {
  return sumColumns(sumRows(x));
}

/** One row, as often as there are rows to add it to. */
export function repeatRow(x: Tensor, rows: number): Tensor {
  return matmul(Tensor.full(rows, 1, 1), x);
}

/** One column, as often as there are columns to divide by it. */
export function repeatColumn(x: Tensor, columns: number): Tensor {
  return matmul(x, Tensor.full(1, columns, 1));
}

/** The mean cross-entropy of the rows' softmax against one-hot targets, 1 × 1. */
export function crossEntropy(logits: Tensor, targets: Tensor): Tensor {
  const total = repeatColumn(sumColumns(exp(logits)), logits.columns);
  return scale(sum(mul(targets, sub(logits, log(total)))), -1 / logits.rows);
}
