import { recordFunctionSlot } from "./record_function_state.ts";
import { book, observe, type Registration, reportThrown } from "./registration.ts";
import { bitOf, type RecordScope } from "./scope.ts";
import { currentNode, currentThread } from "../rank_local/current.ts";
import type { Thread } from "../registry/thread.ts";

/** What can be said of a range beside its name. */
export interface RecordFunctionOptions {
  /** What kind of work it is. Default: `"function"`. */
  readonly scope?: RecordScope;
  /** The operator's inputs, or a function that gives them: called only if an observer needs them. */
  readonly inputs?: readonly unknown[] | (() => readonly unknown[]);
  /** The number that ties an operator to its node of backward. Default: none. */
  readonly sequenceNumber?: number;
}

const NONE: readonly never[] = [];

/** For {@linkcode recordFunction}: the module's own constant. See `ThreadLocal.get`. */
const ownBook = book;

/**
 * A range of work that observers are told of: an operator, a kernel, a part of a program
 * (PyTorch's `RecordFunction`).
 *
 * It begins when it is made and ends with {@linkcode RecordFunction.end}, or at the end of a
 * `using` block; it binds nothing, so it may end in another flow or on another thread.
 *
 * The observers are chosen when it begins: first the global ones, then the thread-local ones, each
 * by ascending handle. All of their `start`s run, and at the end their `end`s in the same order, also
 * for an observer that was removed or disabled in between.
 *
 * @example
 * ```ts
 * import { addGlobalObserver, RecordFunction, removeObserver } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const events: string[] = [];
 * const handle = addGlobalObserver({
 *   start: ({ name, scope }) => events.push(`${scope} ${name} begins`),
 *   end: ({ name, outputs }) => events.push(`${name} gives ${outputs}`),
 *   needsOutputs: true,
 * });
 *
 * async function load() {
 *   using range = new RecordFunction("load", { scope: "user-scope" });
 *   await Promise.resolve();
 *   range.setOutputs([42]);
 * }
 * await load();
 *
 * assertEquals(events, ["user-scope load begins", "load gives 42"]);
 * await removeObserver(handle);
 * ```
 */
export class RecordFunction implements Disposable {
  /** What runs. */
  readonly name: string;
  /** What kind of work it is. */
  readonly scope: RecordScope;
  /** The number that ties an operator to its node of backward, where there is one. */
  readonly sequenceNumber: number | undefined;
  /** The inputs, if an observer needs them; else none. */
  readonly inputs: readonly unknown[] = NONE;
  /** Unique in the isolate, from 1, if an observer needs ids; else 0. */
  readonly id: number = 0;
  private given: readonly unknown[] = NONE;
  private thread: Thread | undefined = undefined;
  private forward: Thread | undefined = undefined;
  // Both frozen when the range begins.
  private observers: readonly Registration[];
  private contexts: readonly unknown[] = NONE;

  /**
   * Begins a range.
   *
   * @param name What runs.
   * @param options What else is known of it.
   * @throws {TypeError} If the name is not a string or the scope is not one.
   */
  constructor(name: string, options: RecordFunctionOptions = {}) {
    const { scope = "function" } = options;
    if (typeof name !== "string") {
      throw new TypeError(
        `Cannot record a function: its name must be a string, got ${typeof name}`,
      );
    }
    this.name = name;
    this.scope = scope;
    this.sequenceNumber = options.sequenceNumber;
    this.observers = choose(bitOf(scope));
    if (this.observers.length === 0) return;
    this.thread = currentThread();
    this.forward = currentNode()?.forwardThread;
    if (needs(this.observers, "needsInputs")) this.inputs = this.read("inputs", options.inputs);
    if (needs(this.observers, "needsIds")) this.id = ++book.lastRangeId;
    // Before the first start, which may remove one of those that come after it.
    for (const registration of this.observers) registration.open++;
    const contexts: unknown[] = [];
    for (const registration of this.observers) {
      contexts.push(observe(registration, this, "start", undefined));
    }
    this.contexts = contexts;
  }

  /** Whether an observer was told that it began, and has not been told that it ended. */
  get isActive(): boolean {
    return this.observers.length > 0;
  }

  /** The id of the logical thread that it began on; 0 if nobody observes it. */
  get threadId(): bigint {
    return this.thread?.id ?? 0n;
  }

  /** While a node is evaluated, the id of its forward thread; 0 in forward work. */
  get forwardThreadId(): bigint {
    return this.forward?.id ?? 0n;
  }

  /** What {@linkcode RecordFunction.setOutputs} gave, if an observer needs them; else none. */
  get outputs(): readonly unknown[] {
    return this.given;
  }

  /** Says what came out. A function is called only if an observer needs the outputs. */
  setOutputs(outputs: readonly unknown[] | (() => readonly unknown[])): void {
    if (needs(this.observers, "needsOutputs")) {
      this.given = this.read("outputs", outputs);
    }
  }

  /** Ends the range: once, the first time that it is called. Never throws. */
  end(): void {
    const { observers, contexts } = this;
    this.observers = this.contexts = NONE;
    for (let index = 0; index < observers.length; index++) {
      const registration = observers[index];
      observe(registration, this, "end", contexts[index]);
      registration.open--;
      if (registration.open === 0) registration.drained?.();
    }
  }

  /** The values that were given, or that the function gives, which must not disturb the operator. */
  private read(what: string, values: RecordFunctionOptions["inputs"]): readonly unknown[] {
    try {
      return (typeof values === "function" ? values() : values) ?? NONE;
    } catch (error) {
      reportThrown(`The function that gives the ${what} of "${this.name}"`, error);
      return NONE;
    }
  }

  /** Ends the range at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.end();
  }
}

/** The observers of a range of this scope that begins here and now. */
function choose(scope: number): readonly Registration[] {
  if (book.live === 0 || book.observing) return NONE;
  const { local, enabled } = recordFunctionSlot().get();
  if (!enabled) return NONE;
  const chosen: Registration[] = [];
  for (const registration of book.global) {
    if (takes(registration, scope)) chosen.push(registration);
  }
  for (const registration of local) {
    if (takes(registration, scope)) chosen.push(registration);
  }
  return chosen;
}

function needs(
  observers: readonly Registration[],
  what: "needsInputs" | "needsOutputs" | "needsIds",
): boolean {
  for (const observer of observers) if (observer[what]) return true;
  return false;
}

function takes(registration: Registration, scope: number): boolean {
  return registration.enabled && !registration.removed && (registration.scopes & scope) !== 0 &&
    // Math.random() may be 0 and is never 1.
    (registration.sampling === 1 || Math.random() < registration.sampling);
}

/**
 * Calls `fn` as a range: see {@linkcode RecordFunction}. If `fn` returns a promise, the range ends
 * when that is settled; else when `fn` returns or throws. What it returned, or its promise was
 * fulfilled with, is the range's one output.
 *
 * While no observer is added it costs about as much as calling `fn`.
 *
 * @param name What runs.
 * @param options What else is known of it. Keep it in a constant where that is possible.
 * @param fn The work.
 * @returns What `fn` returns.
 * @throws What `fn` throws; a `TypeError` if an argument is not what it should be.
 *
 * @example
 * ```ts
 * import { addGlobalObserver, recordFunction, removeObserver } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const seen: unknown[] = [];
 * const handle = addGlobalObserver({
 *   end: ({ name, inputs, outputs }) => seen.push([name, inputs, outputs]),
 *   needsInputs: true,
 *   needsOutputs: true,
 * });
 *
 * const sum = await recordFunction("add", { inputs: [1, 2] }, async () => {
 *   await Promise.resolve();
 *   return 1 + 2;
 * });
 *
 * assertEquals([sum, seen], [3, [["add", [1, 2], [3]]]]);
 * await removeObserver(handle);
 * ```
 */
export function recordFunction<R>(name: string, options: RecordFunctionOptions, fn: () => R): R {
  if (ownBook.live === 0 && typeof fn === "function") return fn();
  return callRecorded(name, options, fn);
}

function callRecorded<R>(name: string, options: RecordFunctionOptions, fn: () => R): R {
  if (typeof fn !== "function") {
    throw new TypeError(`Cannot record "${name}": expected a function, got ${typeof fn}`);
  }
  const range = new RecordFunction(name, options);
  if (!range.isActive) return fn();
  let result: R;
  try {
    result = fn();
  } catch (error) {
    range.end();
    throw error;
  }
  // Not any thenable: some do their work when, and each time that, then() is called.
  if (result instanceof Promise) {
    result.then((value) => endWith(range, value), () => range.end());
  } else {
    endWith(range, result);
  }
  return result;
}

function endWith(range: RecordFunction, output: unknown): void {
  range.setOutputs([output]);
  range.end();
}
