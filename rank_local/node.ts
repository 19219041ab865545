import {
  copy,
  currentFrame,
  type Frame,
  type FrameDraft,
  GUARD,
  OWNER,
  THREAD,
} from "../registry/frame.ts";
import { runIn } from "../registry/guard.ts";
import { frameOf, stateOf, type ThreadLocalState } from "../registry/state.ts";
import type { Thread } from "../registry/thread.ts";
import { checkFunction, type ThreadLocal } from "../registry/thread_local.ts";

/**
 * What an evaluation changes in the node's own state.
 *
 * @typeParam V The types of the values, in order.
 */
export interface EvaluateOptions<V extends unknown[]> {
  /** Slots to bind for this evaluation, over what the node's state binds. */
  readonly with: readonly [
    ...{ [I in keyof V]: readonly [slot: ThreadLocal<V[I]>, value: NoInfer<V[I]>] },
  ];
}

/**
 * A piece of deferred ("backward") work that remembers the forward thread that made it, and its
 * whole state.
 *
 * Whoever evaluates it, on whatever flow, its function sees the bindings of the flow that made the
 * node, {@linkcode currentNode} is the node, and {@linkcode RankLocal.get} finds the instances of
 * the forward thread. Making a node is O(1) and evaluating one costs about one `slot.run`.
 *
 * @typeParam A The arguments of an evaluation.
 * @typeParam R What it returns.
 *
 * @example Backward work sees what forward work saw
 * ```ts
 * import { fork, Node, RankLocal, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("node.user", { initial: "nobody" });
 * const graph = new RankLocal("node.graph", () => [] as string[]);
 *
 * const backward = await fork(() => {
 *   graph.get().push("forward");
 *   return user.run("ann", () => new Node("mul", (grad: number) => [user.get(), grad, graph.get()]));
 * }, { name: "rank 0" });
 *
 * assertEquals(backward.evaluate(2), ["ann", 2, ["forward"]]);
 * assertEquals(graph.get(), []); // this thread's own
 * ```
 */
export class Node<A extends unknown[] = never[], R = unknown> {
  /** What the node computes, for messages and observers. */
  readonly name: string;
  /**
   * @internal The forward thread. Named like `Thread.owner`: the place of a frame's owner holds
   * either, and is asked without a test.
   */
  readonly owner: Thread;
  private readonly fn: (...args: A) => R;
  private readonly frame: Frame;

  /**
   * Remembers the current state and whom the current work runs for: the current thread, or, inside
   * the evaluation of another node, that node's forward thread.
   *
   * @param name What the node computes.
   * @param fn The deferred work.
   * @throws {TypeError} If `name` is not a string or `fn` not a function.
   */
  constructor(name: string, fn: (...args: A) => R) {
    if (typeof name !== "string") {
      throw new TypeError(`Cannot make a node: its name must be a string, got ${typeof name}`);
    }
    checkFunction(fn, "a node");
    this.name = name;
    this.fn = fn;
    this.frame = currentFrame();
    this.owner = (this.frame[OWNER] as { owner: Thread }).owner;
  }

  /** The state of the flow that made the node. */
  get state(): ThreadLocalState {
    return stateOf(this.frame);
  }

  /** The thread that made the node: the one whose instances its work finds. */
  get forwardThread(): Thread {
    return this.owner;
  }

  /**
   * Does the work, in the node's state.
   *
   * @returns What the node's function returns.
   * @throws What it throws.
   */
  evaluate(...args: A): R {
    return runIn(this.frameFor(this.frame), this.fn, args);
  }

  /**
   * Does the work, with some slots bound otherwise than where the node was made: an engine overrides
   * the grad mode with `createGraph`, say.
   *
   * @returns What the node's function returns.
   * @throws What it throws; a `TypeError`, before any work, if a key of `options.with` is no slot.
   *
   * @example
   * ```ts
   * import { Node, ThreadLocal } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const gradMode = new ThreadLocal("node.gradMode", { initial: true });
   * const node = new Node("mul", () => gradMode.get());
   *
   * assertEquals(node.evaluateWith({ with: [[gradMode, false]] }), false);
   * assertEquals(node.evaluate(), true);
   * ```
   */
  evaluateWith<V extends unknown[]>(options: EvaluateOptions<V>, ...args: A): R {
    let { state } = this;
    for (const [slot, value] of options.with) state = state.with(slot, value);
    return runIn(this.frameFor(frameOf(state, "evaluate a node in")), this.fn, args);
  }

  /** The frame of an evaluation: the evaluator's thread, the node as owner, no guards. */
  private frameFor(state: Frame): Frame {
    const draft: FrameDraft = copy(state, state.length);
    draft[THREAD] = currentFrame()[THREAD];
    draft[OWNER] = this;
    draft[GUARD] = undefined;
    return draft;
  }
}
