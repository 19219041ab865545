/** Matrices of numbers that remember how they were computed. */
import { isGradEnabled } from "@thread-local/core/guards";
import { Node } from "@thread-local/core/rank-local";

/** Gradients for the inputs of an operator, in their order; `undefined` where none is needed. */
export type Gradients = (Tensor | undefined)[];

/** How a tensor was computed: the node knows the forward thread and its state. */
export interface History {
  readonly node: Node<[gradient: Tensor], Gradients | Promise<Gradients>>;
  readonly inputs: readonly Tensor[];
}

export class Tensor {
  /** The sum of what backward passes have found, for a leaf with `requiresGrad`. */
  grad: Tensor | undefined = undefined;
  history: History | undefined = undefined;

  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly data: Float64Array,
    readonly requiresGrad: boolean = false,
  ) {}

  static of(rows: readonly (readonly number[])[], requiresGrad = false): Tensor {
    return new Tensor(rows.length, rows[0].length, Float64Array.from(rows.flat()), requiresGrad);
  }

  static full(rows: number, columns: number, value: number): Tensor {
    return new Tensor(rows, columns, new Float64Array(rows * columns).fill(value));
  }

  /** Whether a backward pass has anything to do here. */
  get needsGrad(): boolean {
    return this.requiresGrad || this.history !== undefined;
  }

  /** The only number of a 1 × 1 tensor. */
  item(): number {
    return this.data[0];
  }
}

/**
 * Ends an operator: gives `output` its history, unless gradients are off or no input needs any. This
 * is where the forward thread enters the graph: a `Node` remembers who makes it.
 */
export function record(
  name: string,
  output: Tensor,
  inputs: readonly Tensor[],
  backward: (gradient: Tensor) => Gradients | Promise<Gradients>,
): Tensor {
  if (isGradEnabled() && inputs.some((input) => input.needsGrad)) {
    output.history = { node: new Node(name, backward), inputs };
  }
  return output;
}
