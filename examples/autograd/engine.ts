/**
 * The backward pass. One engine serves every thread of the process: it evaluates nodes on threads of
 * its own, and each finds the state and the instances of the forward thread that made it.
 */
import { AutogradState } from "@thread-local/core/guards";
import { detached, fork } from "@thread-local/core/propagation";
import { evaluateElsewhere, hasKernel, type KernelPool } from "./kernels.ts";
import { add } from "./ops.ts";
import { type Gradients, type History, Tensor } from "./tensor.ts";

export interface BackwardOptions {
  /** Record the backward pass itself, to differentiate it again. Default: `false`. */
  readonly createGraph?: boolean;
  /** Where to evaluate the nodes that have a kernel, unless the pass itself is recorded. */
  readonly pool?: KernelPool;
}

type Device = <R>(job: () => R | Promise<R>) => Promise<R>;

/** A device thread: a loop on a thread of its own that starts the jobs it is given. */
function startDevice(name: string): Device {
  const { readable, writable } = new TransformStream<() => void, () => void>();
  const writer = writable.getWriter();
  // Detached: the first pass to come along must not lend its state to the engine.
  detached(fork, async () => {
    for await (const start of readable) start();
  }, { name });
  // The loop does not await a job: jobs that wait for each other (a collective) must not block it.
  return (job) =>
    new Promise((resolve) => writer.write(() => resolve((async () => await job())())));
}

let devices: Device[] | undefined;
let turn = 0;

/** The engine's threads are begun by the first pass, as PyTorch does. */
function nextDevice(): Device {
  devices ??= ["engine 0", "engine 1"].map(startDevice);
  return devices[turn++ % devices.length];
}

/** Adds the gradients of `root` (1 × 1) to the `grad` of every leaf below it. */
export async function backward(root: Tensor, options: BackwardOptions = {}): Promise<void> {
  for (const [leaf, gradient] of await gradients(root, options)) {
    leaf.grad = leaf.grad === undefined ? gradient : add(leaf.grad, gradient);
  }
}

/** The gradients of `root` by leaf. One call is one graph task. */
export async function gradients(
  root: Tensor,
  { createGraph = false, pool }: BackwardOptions = {},
): Promise<Map<Tensor, Tensor>> {
  if (!root.needsGrad) {
    throw new TypeError("Cannot go backward: no tensor below requires gradients");
  }
  const leaves = new Map<Tensor, Tensor>();
  const waits = countUses(root);
  const arrived = new Map<Tensor, Tensor>([[root, Tensor.full(root.rows, root.columns, 1)]]);
  // The engine overrides the grad mode of the forward state with createGraph.
  const evaluate = (history: History, gradient: Tensor) => {
    if (pool !== undefined && !createGraph && hasKernel(history)) {
      return evaluateElsewhere(pool, history, gradient);
    }
    const { node } = history;
    const modes = node.state.get(AutogradState.slot).with({ gradMode: createGraph });
    return node.evaluateWith({ with: [[AutogradState.slot, modes]] }, gradient);
  };

  async function visit(tensor: Tensor): Promise<void> {
    const gradient = arrived.get(tensor)!;
    const { history } = tensor;
    if (tensor.requiresGrad) leaves.set(tensor, gradient);
    if (history === undefined) return;
    const found = await nextDevice()<Gradients>(() => evaluate(history, gradient));
    const ready: Tensor[] = [];
    for (const [index, input] of history.inputs.entries()) {
      if (!input.needsGrad) continue;
      const before = arrived.get(input);
      const own = found[index]!;
      arrived.set(input, before === undefined ? own : add(before, own));
      waits.set(input, waits.get(input)! - 1);
      if (waits.get(input) === 0) ready.push(input);
    }
    await Promise.all(ready.map(visit));
  }

  await visit(root);
  return leaves;
}

/** How many gradients each tensor waits for before its own node may run. */
function countUses(root: Tensor): Map<Tensor, number> {
  const uses = new Map<Tensor, number>([[root, 0]]);
  const open = [root];
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    for (const input of tensor.history?.inputs ?? []) {
      if (!input.needsGrad) continue;
      if (!uses.has(input)) open.push(input);
      uses.set(input, (uses.get(input) ?? 0) + 1);
    }
  }
  return uses;
}
