import {
  copy,
  currentFrame,
  type Frame,
  type FrameDraft,
  GUARD,
  NODE,
  OWNER,
  ownerOf,
  THREAD,
} from "../registry/frame.ts";
import { makeInspectable } from "../registry/inspect.ts";
import { runIn } from "../registry/scope.ts";
import { frameOf, stateOf, ThreadLocalState } from "../registry/state.ts";
import type { Thread } from "../registry/thread.ts";
import { checkFunction, type ThreadLocal } from "../registry/thread_local.ts";
import type { StateWire } from "../registry/wire.ts";
import { type LeaseOptions, rememberThread, threadOfId } from "./foreign.ts";

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

/** The form of a node that crosses to another isolate or process: JSON values only. */
export interface NodeWire {
  /** The version of the form. */
  readonly version: 1;
  /** What the node computes. */
  readonly name: string;
  /** The forward thread; the id is a decimal number of 64 bits. */
  readonly thread: { readonly id: string; readonly name: string };
  /** The state of where the node was made. */
  readonly state: StateWire;
}

/** Where a node comes from, if not from the current flow. */
interface Origin {
  readonly frame: Frame;
  readonly owner: Thread;
}

const MAX_NAME = 1_024;
const MAX_ID = 2n ** 64n;

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
  /** The thread that made the node: the one whose instances its work finds. */
  readonly forwardThread: Thread;
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
  constructor(name: string, fn: (...args: A) => R);
  /** @internal */
  constructor(name: string, fn: (...args: A) => R, origin: Origin | undefined);
  constructor(name: string, fn: (...args: A) => R, origin?: Origin) {
    if (typeof name !== "string") {
      throw new TypeError(`Cannot make a node: its name must be a string, got ${typeof name}`);
    }
    checkFunction(fn, "a node");
    this.name = name;
    this.fn = fn;
    this.frame = origin?.frame ?? currentFrame();
    this.forwardThread = origin?.owner ?? ownerOf(this.frame);
  }

  /**
   * The counterpart, in this isolate, of a node of another one: its work runs in the state that the
   * wire carries, and for its forward thread: all nodes of one thread find the same instances here.
   * A node that comes home finds the thread that made it.
   *
   * @param wire What {@linkcode Node.toWire} returned. It may come from anyone: its form is checked.
   * @param fn The work of the counterpart; functions do not cross.
   * @param options How long this isolate holds instances of the forward thread.
   * @throws {TypeError} If the wire is not a node's. What is wrong with its state is reported and
   * left out, as {@linkcode ThreadLocalState.fromWire} does.
   * @throws {RangeError} If 10,000 foreign threads are held already.
   *
   * @example
   * ```ts
   * import { endForeignThread, Node, ThreadLocal } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const user = new ThreadLocal("Node.fromWire.user", { initial: "nobody", wire: true });
   * const wire = user.run("ann", () => new Node("mul", () => {}).toWire());
   *
   * // In another isolate:
   * const counterpart = Node.fromWire(wire, (gradient: number) => [user.get(), gradient]);
   * assertEquals(counterpart.evaluate(2), ["ann", 2]);
   *
   * await endForeignThread(BigInt(wire.thread.id));
   * ```
   */
  static fromWire<A extends unknown[], R>(
    wire: unknown,
    fn: (...args: A) => R,
    options: LeaseOptions = {},
  ): Node<A, R> {
    const { name, thread, state } = checkWire(wire);
    checkFunction(fn, `node "${name}"`);
    const frame = frameOf(ThreadLocalState.fromWire(state), "evaluate a node in");
    const owner = threadOfId(thread.id, thread.name, options);
    return new Node(name, fn, { frame, owner });
  }

  /**
   * The form of this node that may cross to another isolate or process, for a counterpart to be
   * evaluated there under the forward thread's id. Its state has the slots declared with `wire`; of
   * names longer than 1,024 characters the beginning is sent.
   *
   * @throws {TypeError} If the value of such a slot cannot be put on the wire.
   */
  toWire(): NodeWire {
    rememberThread(this.forwardThread);
    return {
      version: 1,
      name: this.name.slice(0, MAX_NAME),
      thread: {
        id: String(this.forwardThread.id),
        name: this.forwardThread.name.slice(0, MAX_NAME),
      },
      state: this.state.toWire(),
    };
  }

  /** The state of the flow that made the node. */
  get state(): ThreadLocalState {
    return stateOf(this.frame);
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

  /** The frame of an evaluation: the evaluator's thread, the forward thread as owner, no guards. */
  private frameFor(state: Frame): Frame {
    const draft: FrameDraft = copy(state, state.length);
    draft[THREAD] = currentFrame()[THREAD];
    draft[OWNER] = this.forwardThread.instances;
    draft[NODE] = this;
    draft[GUARD] = undefined;
    return draft;
  }
}

makeInspectable(
  Node.prototype as Node,
  ({ name, forwardThread, state }) => Object.entries({ name, forwardThread, state }),
);

interface CheckedWire {
  readonly name: string;
  readonly thread: { readonly id: bigint; readonly name: string };
  readonly state: unknown;
}

function checkWire(wire: unknown): CheckedWire {
  const { version, name, thread, state } = Object(wire) as Partial<NodeWire>;
  const { id, name: threadName } = Object(thread) as Partial<NodeWire["thread"]>;
  if (version !== 1) throw refusal(`its version is not 1`);
  if (!isName(name)) throw refusal(`its name is not a string of at most ${MAX_NAME} characters`);
  if (!isName(threadName)) {
    throw refusal(`its thread's name is not a string of at most ${MAX_NAME} characters`);
  }
  if (typeof id !== "string" || !/^[1-9][0-9]{0,19}$/.test(id) || BigInt(id) >= MAX_ID) {
    throw refusal(`its thread's id is not a positive decimal number of at most 64 bits`);
  }
  return { name, thread: { id: BigInt(id), name: threadName }, state };
}

function isName(name: unknown): name is string {
  return typeof name === "string" && name.length <= MAX_NAME;
}

function refusal(why: string): TypeError {
  return new TypeError(`Cannot read a node's wire: ${why}. Send what Node.toWire() returns`);
}
