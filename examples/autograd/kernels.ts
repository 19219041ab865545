/** Backward work on other isolates: the counterparts of nodes, for their forward threads. */
import { Node, type NodeWire, RankLocal } from "@thread-local/core/rank-local";
import { matmul, transpose } from "./ops.ts";
import { type Gradients, type History, Tensor } from "./tensor.ts";

/** A tensor as it crosses: data without history. */
type Plain = Pick<Tensor, "rows" | "columns" | "data">;

/** What a worker needs to evaluate the counterpart of a node. */
export interface KernelTask {
  readonly node: NodeWire;
  readonly gradient: Plain;
  readonly inputs: readonly Plain[];
}

/** How often this isolate worked for each forward thread, wherever that thread is. */
export const kernelCalls = new RankLocal("autograd.kernelCalls", () => ({ count: 0 }));

/** The work of `matmul`. It is not recorded: it serves passes without createGraph. */
function matmulBackward(g: Tensor, [x, y]: readonly Tensor[]): Gradients {
  return [matmul(g, transpose(y)), matmul(transpose(x), g)];
}

/** Whoever executes kernels elsewhere: a pool of workers. */
export interface KernelPool {
  execute(task: KernelTask, name: "kernel"): Promise<unknown>;
}

export function hasKernel({ node }: History): boolean {
  return node.name === "matmul";
}

/** On the engine's side: evaluates a node by its counterpart on the pool. */
export async function evaluateElsewhere(
  pool: KernelPool,
  { node, inputs }: History,
  gradient: Tensor,
): Promise<Gradients> {
  const task = { node: node.toWire(), gradient: plain(gradient), inputs: inputs.map(plain) };
  return (await pool.execute(task, "kernel") as Plain[]).map(tensor);
}

/** On the worker's side. */
export function evaluateHere({ node, gradient, inputs }: KernelTask): Plain[] {
  const counterpart = Node.fromWire(node, () => {
    kernelCalls.get().count++;
    return matmulBackward(tensor(gradient), inputs.map(tensor)).map((g) => plain(g!));
  });
  return counterpart.evaluate();
}

function plain({ rows, columns, data }: Plain): Plain {
  return { rows, columns, data };
}

function tensor({ rows, columns, data }: Plain): Tensor {
  return new Tensor(rows, columns, data);
}
