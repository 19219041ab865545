import { carriedAt, dropCarried, lookUpCarried } from "./carried.ts";
import { DuplicateSlotError } from "./errors.ts";
import {
  BOUND_UNDEFINED,
  contextStorage,
  currentFrame,
  type Frame,
  held,
  lookUp,
  placeOf,
  put,
  ROOT,
  storage,
  valueOf,
} from "./frame.ts";
import { type Guard, type SiteBudget, siteBudget } from "./guard.ts";
import { makeInspectable, REDACTED } from "./inspect.ts";
import { runIn } from "./scope.ts";
import { SlotGuard } from "./slot_guard.ts";
import { shared } from "./shared.ts";
import { captureSite, position, type Site } from "./site.ts";
import {
  checkKey,
  checkOptions,
  type InitialValue,
  type SlotOptions,
  type WireCodec,
} from "./slot_options.ts";

interface Slots {
  readonly byKey: Map<string, ThreadLocal<unknown>>;
  /** In the order of declaration; the index gives the place in a frame. */
  readonly byIndex: ThreadLocal<unknown>[];
  /** Those that a fork does not simply keep: `inherit: false` or `fork`. Nearly always none. */
  readonly withForkPolicy: ThreadLocal<unknown>[];
}

/** Every slot of this isolate. Read it through `registry`. */
export const slots: Slots = shared("slots", () => ({
  byKey: new Map(),
  byIndex: [],
  withForkPolicy: [],
}));

/**
 * For {@linkcode ThreadLocal.get}: V8 builds a module's own constants into its machine code, and
 * loads and checks imported ones at each use. Measured in `benches/`: 2 ns of the 11 of a `get()`.
 */
const ownStorage = storage;
const boundUndefined = BOUND_UNDEFINED;

/** Stands for an initial value that `init` has not made yet. */
const NOT_MADE: unique symbol = Symbol.for("@thread-local/core not made") as never;

/**
 * A thread-local variable: each flow (a chain of async continuations) sees the value that was bound
 * in it or in the flow that started it, and never another's.
 *
 * Declare it once, at the top of a module, and import it where it is read.
 *
 * Reading costs about as much as `AsyncLocalStorage.getStore()`, however many slots are bound.
 * {@linkcode ThreadLocal.run} costs about one `AsyncLocalStorage.run`.
 *
 * @typeParam T The type of the values.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("readme.user", { initial: "nobody" });
 *
 * async function greet() {
 *   await Promise.resolve();
 *   return `hello ${user.get()}`;
 * }
 *
 * assertEquals(
 *   await Promise.all([user.run("ann", greet), user.run("bob", greet), greet()]),
 *   ["hello ann", "hello bob", "hello nobody"],
 * );
 * ```
 */
export class ThreadLocal<T> {
  /** The name under which the slot is registered. */
  readonly key: string;
  /** @internal Where its binding stands in a frame. */
  readonly place: number;
  /** @internal Where its binding stands in that place, or -1. */
  readonly offset: number;
  /** Whether the value is kept out of what is printed. */
  readonly redact: boolean;
  /** @internal */
  readonly inherit: boolean;
  /** @internal */
  readonly fork: ((value: unknown) => unknown) | undefined;
  /** @internal */
  readonly wire: true | WireCodec<unknown> | undefined;
  /** Whether wires that came before the declaration may have carried a binding of it. */
  private readonly late: boolean;
  private readonly shared: boolean;
  private readonly declared: Site;
  private readonly sites: SiteBudget = siteBudget();
  private initial: T | typeof NOT_MADE;
  private readonly init: (() => T) | undefined;
  private making = false;

  /**
   * Declares a slot.
   *
   * @param key Not empty, unique in the isolate. Dotted names (`"app.userId"`) keep packages apart.
   * @param options The initial value, required unless `T` has `undefined`, and what else holds.
   * @throws {DuplicateSlotError} If the key is declared already, and not both say `shared: true`.
   * @throws {TypeError} If the key is not a non-empty string or an option is not one.
   */
  constructor(key: string, options: SlotOptions<T> & InitialValue<T>);
  /** Declares a slot whose initial value is `undefined`. */
  constructor(
    key: string,
    ...options: undefined extends T ? [options?: SlotOptions<T>] : [never]
  );
  constructor(key: string, options: SlotOptions<T> & Partial<InitialValue<T>> = {}) {
    checkKey(key);
    checkOptions(key, options);
    const { place, offset } = placeOf(slots.byIndex.length);
    this.key = key;
    this.place = place;
    this.offset = offset;
    this.redact = options.redact ?? false;
    this.inherit = options.inherit ?? true;
    this.fork = options.fork as ((value: unknown) => unknown) | undefined;
    this.wire = options.wire as true | WireCodec<unknown> | undefined;
    this.late = options.wire !== undefined && carriedAt.place !== undefined;
    this.shared = options.shared ?? false;
    this.declared = captureSite(new.target);
    this.init = options.init;
    this.initial = options.init === undefined ? options.initial as T : NOT_MADE;
    const first = slots.byKey.get(key);
    if (first !== undefined) {
      if (first.shared && this.shared) return first as ThreadLocal<T>;
      throw new DuplicateSlotError(key, position(first.declared), position(this.declared));
    }
    slots.byKey.set(key, this as ThreadLocal<unknown>);
    slots.byIndex.push(this as ThreadLocal<unknown>);
    if (!this.inherit || this.fork !== undefined) {
      slots.withForkPolicy.push(this as ThreadLocal<unknown>);
    }
  }

  /**
   * The value that this flow sees: what was bound, else the initial value. O(1), allocates nothing.
   *
   * @throws What `init` throws, if this is the first read and the slot is unbound.
   */
  get(): T {
    // lookUp() and valueOf(), written out: a call to an imported function costs a nanosecond.
    const frame = ownStorage.getStore();
    if (frame !== undefined) {
      let found = frame[this.place];
      if (found !== undefined) {
        if (this.offset >= 0) found = (found as unknown[])[this.offset];
        if (found !== undefined) return (found === boundUndefined ? undefined : found) as T;
      }
      if (this.late) {
        const carried = lookUpCarried(frame, this);
        if (carried !== undefined) return valueOf(carried) as T;
      }
    }
    return this.initial === NOT_MADE ? this.makeInitial() : this.initial;
  }

  /** Whether this flow has bound the slot. A bound `undefined` is a binding. O(1). */
  isBound(): boolean {
    return this.lookUpIn(currentFrame()) !== undefined;
  }

  /**
   * Calls `fn` with the slot bound to `value`, for `fn` and for everything asynchronous that it
   * starts, for as long as that lives. Nothing that `fn` itself binds with {@linkcode set}
   * outlives the call.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if it is not a function.
   *
   * @example
   * ```ts
   * import { ThreadLocal } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const locale = new ThreadLocal("run.locale", { initial: "en" });
   *
   * const later = locale.run("fr", async (greeting: string) => {
   *   await new Promise((resolve) => setTimeout(resolve));
   *   return `${greeting} (${locale.get()})`;
   * }, "bonjour");
   *
   * assertEquals(locale.get(), "en");
   * assertEquals(await later, "bonjour (fr)");
   * ```
   */
  run<A extends unknown[], R>(value: T, fn: (...args: A) => R, ...args: A): R {
    checkFunction(fn, this.key);
    return runIn(put(currentFrame(), this, held(value)), fn, args);
  }

  /**
   * Binds the slot from here on in this flow, as an assignment to a C++ `thread_local` would. In an
   * async function that has not awaited yet, that flow is the caller's too: prefer
   * {@linkcode run}, {@linkcode with} or {@linkcode enter}.
   */
  set(value: T): void {
    storage.enterWith(put(currentFrame(), this, held(value)));
  }

  /** Unbinds the slot from here on in this flow: it reads its initial value. */
  clear(): void {
    storage.enterWith(put(dropCarried(currentFrame(), this.key), this, undefined));
  }

  /**
   * A guard that binds the slot for the rest of a synchronous block: `using _ = slot.with(value);`.
   * Without `using` it does nothing.
   *
   * If it is still open after an `await` or a `yield`, that is reported through
   * {@linkcode onMisuse}: use {@linkcode enter} there.
   */
  with(value: T): Guard {
    return new SlotGuard(this, value, {
      sync: true,
      sites: this.sites,
      above: ThreadLocal.prototype.with,
    });
  }

  /**
   * A guard that binds the slot for the rest of an async function:
   * `using _ = await slot.enter(value);`. The `await` is what keeps the binding from the caller:
   * the guard binds in this function's own continuation.
   *
   * @returns A promise of the guard; without `await`, `using` does not accept it.
   * @throws {TypeError} (rejects) If this runtime has no asynchronous context; see
   * {@linkcode contextStorage}.
   *
   * @example
   * ```ts
   * import { ThreadLocal } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const user = new ThreadLocal("enter.user", { initial: "nobody" });
   *
   * async function handle() {
   *   using _ = await user.enter("ann");
   *   await Promise.resolve();
   *   return user.get();
   * }
   *
   * const handled = handle();
   * assertEquals(user.get(), "nobody");
   * assertEquals(await handled, "ann");
   * ```
   */
  enter(value: T): Promise<Guard> {
    return guardForAsync(
      new SlotGuard(this, value, {
        sync: false,
        sites: this.sites,
        above: ThreadLocal.prototype.enter,
      }),
    );
  }

  /** @internal What stands for it in `frame`; `undefined` if it is unbound there. */
  lookUpIn(frame: Frame): unknown {
    const found = lookUp(frame, this);
    return found === undefined && this.late ? lookUpCarried(frame, this) : found;
  }

  /** @internal The initial value, made if need be. */
  readInitial(): T {
    return this.initial === NOT_MADE ? this.makeInitial() : this.initial;
  }

  /** Calls `init`, once. */
  private makeInitial(): T {
    if (this.making) {
      throw new Error(
        `Cannot read "${this.key}": its own init() is still running, and reads it. ` +
          `Bind it first, or compute the value without it`,
      );
    }
    this.making = true;
    try {
      return this.initial = storage.run(ROOT, this.init!);
    } finally {
      this.making = false;
    }
  }
}

makeInspectable(ThreadLocal.prototype as ThreadLocal<unknown>, (slot) => {
  const initial = slot["initial"];
  if (initial === NOT_MADE) return [["key", slot.key]];
  return [["key", slot.key], ["initial", slot.redact ? REDACTED : initial]];
});

/** Hands an async guard over, unless it could reach other flows here. */
export function guardForAsync<G extends Guard>(guard: G): Promise<G> {
  if (contextStorage === "AsyncLocalStorage") return Promise.resolve(guard);
  return Promise.reject(
    new TypeError(
      `Cannot bind for the rest of an async function: this runtime's context storage ` +
        `("${contextStorage}") cannot enter a frame and keep it across "await". Use run(…) instead`,
    ),
  );
}

/** Throws unless `fn` is a function, naming what it was to be run for. */
export function checkFunction(fn: unknown, what: string): void {
  if (typeof fn !== "function") {
    throw new TypeError(
      `Cannot run with "${what}" bound: expected a function, got ${typeof fn}`,
    );
  }
}
