import { carriedAt, carriedIn, dropCarried, putCarried } from "./carried.ts";
import {
  boundIndexes,
  copy,
  currentFrame,
  type Frame,
  GUARD,
  HEADER,
  held,
  lookUp,
  put,
  ROOT,
  storage,
  valueOf,
} from "./frame.ts";
import { runIn } from "./scope.ts";
import { makeInspectable, REDACTED } from "./inspect.ts";
import { PROTOCOL } from "./shared.ts";
import { checkFunction, slots, ThreadLocal } from "./thread_local.ts";
import {
  checkLimits,
  decodeFrame,
  encodeFrame,
  settleCarried,
  type StateWire,
  type WireLimits,
} from "./wire.ts";

/** How a state is put over the current one. */
export interface RestoreOptions {
  /**
   * `"replace"` (the default): the flow sees the state whole; what the state does not bind is
   * unbound. `"merge"`: only what the state binds is bound, all else stays, the thread too.
   */
  readonly mode?: "replace" | "merge";
}

/** States made by another copy of the package are states too, if it speaks this protocol. */
const BRAND: unique symbol = Symbol.for(`@thread-local/core state ${PROTOCOL}`) as never;

/**
 * An immutable set of bindings, held as a value: what {@linkcode saveThreadLocalState} returns.
 *
 * It covers every slot: one that it does not bind (because it was unbound at the save, or declared
 * later) reads its initial value inside. It holds its values strongly. Methods that change
 * something return a new state.
 *
 * @example
 * ```ts
 * import { saveThreadLocalState, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("state.user", { initial: "nobody" });
 * const state = user.run("ann", saveThreadLocalState);
 *
 * assertEquals(state.run(() => user.get()), "ann");
 * assertEquals(state.with(user, "bob").get(user), "bob");
 * assertEquals([...state.pick(user)], [[user, "ann"]]);
 * assertEquals(user.get(), "nobody");
 * ```
 */
export class ThreadLocalState {
  private readonly frame: Frame;

  /** Made by {@linkcode saveThreadLocalState}. */
  private constructor(frame: Frame) {
    this.frame = frame;
  }

  /** The value of `slot` in this state: what is bound, else the initial value. O(1). */
  get<T>(slot: ThreadLocal<T>): T {
    checkSlot(slot);
    const found = slot.lookUpIn(this.frame);
    return found === undefined ? slot.readInitial() : valueOf(found) as T;
  }

  /** Whether this state binds `slot`. O(1). */
  has(slot: ThreadLocal<unknown>): boolean {
    checkSlot(slot);
    return slot.lookUpIn(this.frame) !== undefined;
  }

  /** How many slots this state binds. O(slots declared). */
  get size(): number {
    let size = 0;
    for (const _ of bound(settleCarried(this.frame))) size++;
    return size;
  }

  /** The bound slots and their values, in the order of declaration. */
  *[Symbol.iterator](): IterableIterator<[ThreadLocal<unknown>, unknown]> {
    const frame = settleCarried(this.frame);
    for (const slot of bound(frame)) yield [slot, valueOf(lookUp(frame, slot))];
  }

  /**
   * Calls `fn` in this state, and everything asynchronous that it starts. Nothing that `fn` itself
   * binds outlives the call. O(1): as dear as one `AsyncLocalStorage.run`, whatever is bound.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if it is not a function.
   */
  run<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R {
    checkFunction(fn, "a state");
    return runIn(this.frame, fn, args);
  }

  /** This state with `slot` bound to `value`. */
  with<T>(slot: ThreadLocal<T>, value: T): ThreadLocalState {
    checkSlot(slot);
    return new ThreadLocalState(put(this.frame, slot, held(value)));
  }

  /** This state with `slot` unbound. */
  without(slot: ThreadLocal<unknown>): ThreadLocalState {
    checkSlot(slot);
    return new ThreadLocalState(put(dropCarried(this.frame, slot.key), slot, undefined));
  }

  /** This state with only these slots bound, where they are. The rest of {@linkcode omit}. */
  pick(...picked: ThreadLocal<unknown>[]): ThreadLocalState {
    picked.forEach(checkSlot);
    const frame = settleCarried(this.frame);
    let next: Frame = frame.slice(0, HEADER);
    for (const slot of picked) {
      const found = lookUp(frame, slot);
      if (found !== undefined) next = put(next, slot, found);
    }
    return new ThreadLocalState(next);
  }

  /** This state with these slots unbound. The rest of {@linkcode pick}. */
  omit(...omitted: ThreadLocal<unknown>[]): ThreadLocalState {
    omitted.forEach(checkSlot);
    let next = settleCarried(this.frame);
    for (const slot of omitted) next = put(next, slot, undefined);
    return new ThreadLocalState(next);
  }

  /**
   * The form of this state that crosses an isolate or a process: JSON values only, of the slots
   * declared with `wire`, and what {@linkcode fromWire} received for slots that this isolate does
   * not declare. The values are copied. O(bound).
   *
   * @throws {TypeError} If the value of a slot with `wire: true` (or what `encode` makes) is not a
   * JSON value, or `encode` throws. It names the key; nothing is made of the rest.
   *
   * @example Send the state of a request along with it
   * ```ts
   * import { saveThreadLocalState, ThreadLocal, ThreadLocalState } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const user = new ThreadLocal("wire.user", { initial: "nobody", wire: true });
   * const text = JSON.stringify(user.run("ann", saveThreadLocalState).toWire());
   *
   * const state = ThreadLocalState.fromWire(text); // in another isolate, process or machine
   * assertEquals(state.run(() => user.get()), "ann");
   * ```
   */
  toWire(): StateWire {
    return encodeFrame(this.frame);
  }

  /**
   * The state that another isolate or process sent, on the root thread of this one.
   *
   * Whatever is wrong with the wire is left out and reported through {@linkcode onMisuse} as
   * `"wire-rejected"`, with the key: that slot reads its initial value. Of a wire that is wrong as a
   * whole (no such version, no JSON) an empty state is made. Bindings of slots not declared here are
   * kept: {@linkcode toWire} passes them on, and a slot declared later has them.
   *
   * A slot with `wire: true` takes any JSON value; give it a `decode` where the sender is not
   * trusted to send the right type. A `decode` must throw at whatever its `encode` could not have
   * made, or {@linkcode toWire} may throw later.
   *
   * @param wire What {@linkcode toWire} returned, or its JSON text.
   * @param limits How much is taken. Text longer than 8 × `maxSize` is not parsed.
   * @throws {TypeError} If a limit is not a number of 0 or more; never because of the wire.
   *
   * @example A stranger's wire
   * ```ts
   * import { type MisuseReport, onMisuse, ThreadLocalState } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const reports: MisuseReport[] = [];
   * using _ = onMisuse((report) => reports.push(report));
   *
   * assertEquals(ThreadLocalState.fromWire("no wire at all").size, 0);
   * assertEquals(reports[0].kind, "wire-rejected");
   * ```
   */
  static fromWire(wire: unknown, limits: WireLimits = {}): ThreadLocalState {
    return new ThreadLocalState(decodeFrame(wire, checkLimits(limits)));
  }
}

/** The slots that a frame binds itself, without the one that no one declared. */
function* bound(frame: Frame): Generator<ThreadLocal<unknown>> {
  for (const index of boundIndexes(frame)) {
    const slot = slots.byIndex[index];
    if (slot.place !== carriedAt.place?.place || slot.offset !== carriedAt.place.offset) yield slot;
  }
}

Object.defineProperty(ThreadLocalState.prototype, BRAND, { value: true });
makeInspectable(
  ThreadLocalState.prototype,
  (state) => Array.from(state, ([slot, value]) => [slot.key, slot.redact ? REDACTED : value]),
);

/** The module's own constants, which V8 need not load at each save. See `ThreadLocal.get`. */
const ownStorage = storage;
const root = ROOT;
const State = ThreadLocalState as unknown as new (frame: Frame) => ThreadLocalState;

/**
 * Saves the state of the current flow: every registered slot, whole. O(1), whatever is bound: one
 * small object is allocated.
 *
 * @example
 * ```ts
 * import { restoreThreadLocalState, saveThreadLocalState, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("save.user", { initial: "nobody" });
 * const state = saveThreadLocalState();
 * user.set("ann");
 *
 * restoreThreadLocalState(state);
 * assertEquals(user.get(), "nobody");
 * ```
 */
export function saveThreadLocalState(): ThreadLocalState {
  return new State(ownStorage.getStore() ?? root);
}

/**
 * Puts a saved state in the place of the current one, from here on in this flow. To do it for one
 * function or scope, use {@linkcode ThreadLocalState.run} or a `ThreadLocalStateGuard`.
 *
 * `"replace"` also brings back the logical thread of the saved flow. O(1) where no guard is open,
 * else O(bound); `"merge"` is O(bound). A guard that is open around the restore still unbinds at its
 * end: its own slot, or, if it is a `ThreadLocalStateGuard`, everything.
 *
 * @throws {TypeError} If `state` is not a state or the mode not one of the two; nothing is changed.
 *
 * @example Keep the present bindings where the state has none
 * ```ts
 * import { restoreThreadLocalState, saveThreadLocalState, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("restore.user", { initial: "nobody" });
 * const locale = new ThreadLocal("restore.locale", { initial: "en" });
 * const state = user.run("ann", saveThreadLocalState);
 *
 * locale.run("fr", () => {
 *   restoreThreadLocalState(state, { mode: "merge" });
 *   assertEquals([user.get(), locale.get()], ["ann", "fr"]);
 *   restoreThreadLocalState(state);
 *   assertEquals([user.get(), locale.get()], ["ann", "en"]);
 * });
 * ```
 */
export function restoreThreadLocalState(
  state: ThreadLocalState,
  options: RestoreOptions = {},
): void {
  const frame = frameOf(state, "restore");
  const { mode = "replace" } = options;
  if (mode !== "replace" && mode !== "merge") {
    throw new TypeError(
      `Cannot restore a state: mode must be "replace" or "merge", got ${JSON.stringify(mode)}`,
    );
  }
  const current = currentFrame();
  storage.enterWith(mode === "merge" ? merge(current, frame) : withGuardOf(current, frame));
}

/**
 * The bindings and the thread of `frame`, with the guards of the present flow around them: guards
 * belong to a flow, not to a state, and those that are open around a restore close after it.
 */
function withGuardOf(present: Frame, frame: Frame): Frame {
  if (frame[GUARD] === present[GUARD]) return frame;
  const next = copy(frame, frame.length);
  next[GUARD] = present[GUARD];
  return next;
}

function merge(below: Frame, unsettled: Frame): Frame {
  const above = settleCarried(unsettled);
  let next: Frame = copy(below, above.length);
  for (const slot of bound(above)) next = put(next, slot, lookUp(above, slot));
  const carried = carriedIn(above);
  return carried === undefined
    ? next
    : putCarried(next, new Map([...carriedIn(below) ?? [], ...carried]));
}

/** The state that is this frame. */
export function stateOf(frame: Frame): ThreadLocalState {
  return new State(frame);
}

/**
 * The frame of a state.
 *
 * @throws {TypeError} If it is not a state: `what` says what could not be done with it.
 */
export function frameOf(state: ThreadLocalState, what: string): Frame {
  if (typeof state !== "object" || state === null || !(BRAND in state)) {
    throw new TypeError(
      `Cannot ${what} a state: expected what saveThreadLocalState() returns, got ${
        state === null ? "null" : typeof state
      }`,
    );
  }
  return state["frame"];
}

function checkSlot(slot: ThreadLocal<unknown>): void {
  if (slot instanceof ThreadLocal) return;
  // A slot of another copy of the package is not an instance of our class.
  const key = (slot as ThreadLocal<unknown> | undefined)?.key;
  if (key !== undefined && slots.byKey.get(key) === slot) return;
  throw new TypeError(
    `Cannot look up a slot in a state: expected a ThreadLocal, got ${
      slot === null ? "null" : typeof slot
    }`,
  );
}
