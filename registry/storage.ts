/**
 * How the current frame is carried: `"AsyncLocalStorage"` and `"AsyncContext.Variable"` follow
 * every `await`, timer and callback; `"synchronous"` does not.
 */
export type ContextStorageKind =
  | "AsyncLocalStorage"
  | "AsyncContext.Variable"
  | "synchronous";

/** The three operations that we need of a platform. `AsyncLocalStorage` has them by these names. */
export interface ContextStorage<F> {
  /** The current frame, or `undefined` where none was entered. */
  getStore(): F | undefined;
  /** Calls `fn` in `frame`; the previous frame is back afterwards, whatever `fn` entered or threw. */
  run<A extends unknown[], R>(frame: F, fn: (...args: A) => R, ...args: A): R;
  /** Makes `frame` current from here on in this flow. */
  enterWith(frame: F): void;
}

/** A storage and the name of what it is made of. */
export interface PickedStorage<F> {
  readonly kind: ContextStorageKind;
  readonly storage: ContextStorage<F>;
}

/** The part of TC39's `AsyncContext.Variable` that we use: it has no way to enter without a callback. */
interface Variable<F> {
  get(): F | undefined;
  run<A extends unknown[], R>(frame: F, fn: (...args: A) => R, ...args: A): R;
}

interface AsyncHooks {
  AsyncLocalStorage?: new <F>() => ContextStorage<F> & { disable(): void };
}

interface Platform {
  process?: { getBuiltinModule?(name: string): AsyncHooks | undefined };
  AsyncLocalStorage?: AsyncHooks["AsyncLocalStorage"];
  AsyncContext?: { Variable?: new <F>() => Variable<F> };
}

/**
 * Picks the best that `platform` has. `AsyncLocalStorage` comes before `AsyncContext.Variable`,
 * because `set()` and guards enter a frame without a callback, which a `Variable` cannot.
 */
export function pickStorage<F>(
  platform: Platform = globalThis as Platform,
): PickedStorage<F> {
  // Not an import: a bundle for browsers must not have to resolve "node:async_hooks".
  const AsyncLocalStorage =
    platform.process?.getBuiltinModule?.("node:async_hooks")?.AsyncLocalStorage ??
      platform.AsyncLocalStorage;
  if (AsyncLocalStorage !== undefined) {
    const storage = new AsyncLocalStorage<F>();
    if (skipsRunOfCurrent(AsyncLocalStorage)) confineRun(storage);
    return { kind: "AsyncLocalStorage", storage };
  }
  const Variable = platform.AsyncContext?.Variable;
  if (Variable !== undefined) {
    return {
      kind: "AsyncContext.Variable",
      storage: new VariableStorage<F>(new Variable()),
    };
  }
  return { kind: "synchronous", storage: new SynchronousStorage<F>() };
}

/**
 * Node 20 and 22 call `fn` without a scope of its own when the frame is the current one already,
 * so that what `fn` enters would outlive the `run`.
 */
function skipsRunOfCurrent(
  AsyncLocalStorage: NonNullable<AsyncHooks["AsyncLocalStorage"]>,
): boolean {
  const probe = new AsyncLocalStorage<string>();
  const skips = probe.run("outer", () => {
    probe.run("outer", () => probe.enterWith("inner"));
    return probe.getStore() === "inner";
  });
  probe.disable();
  return skips;
}

function confineRun<F>(storage: ContextStorage<F>): void {
  const run = storage.run.bind(storage) as ContextStorage<F>["run"];
  storage.run = (frame, fn, ...args) => {
    const previous = storage.getStore();
    try {
      return run(frame, fn, ...args);
    } finally {
      if (storage.getStore() !== previous) storage.enterWith(previous as F);
    }
  };
}

class VariableStorage<F> implements ContextStorage<F> {
  constructor(private readonly variable: Variable<F>) {}

  getStore(): F | undefined {
    return this.variable.get();
  }

  run<A extends unknown[], R>(frame: F, fn: (...args: A) => R, ...args: A): R {
    return this.variable.run(frame, fn, ...args);
  }

  enterWith(): never {
    throw new TypeError(
      "Cannot bind without a callback: this runtime's AsyncContext.Variable has no way to do it. " +
        "Use slot.run(value, fn) or state.run(fn) instead of set(), with(), enter() and restore",
    );
  }
}

/**
 * The current frame in a plain variable: right for synchronous code, and gone after an `await`. What
 * `run` enters is never seen by another flow. What is entered outside of every `run` is seen by the
 * microtasks that wait before the one that resets it: no platform tells where a microtask ends.
 */
class SynchronousStorage<F> implements ContextStorage<F> {
  private frame: F | undefined = undefined;
  private resets = false;

  getStore(): F | undefined {
    return this.frame;
  }

  run<A extends unknown[], R>(frame: F, fn: (...args: A) => R, ...args: A): R {
    const previous = this.frame;
    this.frame = frame;
    try {
      return fn(...args);
    } finally {
      this.frame = previous;
    }
  }

  enterWith(frame: F): void {
    this.frame = frame;
    if (this.resets) return;
    // Where a microtask runs, no `run` is open: whatever is still entered belongs to another turn.
    this.resets = true;
    queueMicrotask(() => {
      this.resets = false;
      this.frame = undefined;
    });
  }
}
