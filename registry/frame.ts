import { shared } from "./shared.ts";
import { type ContextStorage, type ContextStorageKind, pickStorage } from "./storage.ts";
import { rootThread, type Thread } from "./thread.ts";

/**
 * The immutable set of bindings that the current flow sees: one flat array.
 *
 * Its first places are the header: the thread, the owner (the instances of the thread whose work it
 * is: in the evaluation of a node, its forward thread's), the innermost guard and the node. The first
 * {@linkcode FLAT} slots follow, each in a place of its own; later slots share places,
 * {@linkcode CHUNK} to an inner array, so that binding one costs the same with 10 or 1,000 bound.
 * `undefined` in a place is "unbound"; a bound `undefined` is stored as {@linkcode BOUND_UNDEFINED}.
 * A place past the end is unbound too.
 *
 * A frame is never written after it is published: holding it is a snapshot.
 */
export type Frame = readonly unknown[];

/** A frame that is being built, not yet published. */
export type FrameDraft = unknown[];

/** A {@linkcode Thread}. */
export const THREAD = 0;
/** The {@linkcode Thread.instances} of a thread. */
export const OWNER = 1;
export const GUARD = 2;
export const NODE = 3;
/** How many places the header has. */
export const HEADER = 4;

const FLAT = 16;
const CHUNK = 32;

/** Where a slot's binding stands in a frame. `offset` is -1 where the place is the slot's own. */
export interface Place {
  readonly place: number;
  readonly offset: number;
}

/** The first place that later slots share. */
const SHARED_PLACES = HEADER + FLAT;

/** Registered by name, not made: two copies of the package must write the same one. */
export const BOUND_UNDEFINED: unique symbol = Symbol.for(
  "@thread-local/core bound undefined",
) as never;

const picked = shared("storage", () => pickStorage<Frame>());

/** The one storage of the registry. */
export const storage: ContextStorage<Frame> = picked.storage;

/**
 * What carries the state of this isolate across `await`, timers and callbacks.
 *
 * `"AsyncLocalStorage"` on Deno, Node.js and Bun; `"AsyncContext.Variable"` in a browser that has
 * one (there, only {@linkcode ThreadLocal.run} and {@linkcode ThreadLocalState.run} bind);
 * `"synchronous"` elsewhere: bindings hold for the synchronous part of a function and read their
 * initial value after an `await`. There, prefer {@linkcode ThreadLocal.run} or a guard in a block:
 * what {@linkcode ThreadLocal.set} binds outside of a `run` is seen, until the microtasks that wait
 * already are done, by other flows too.
 *
 * @example
 * ```ts
 * import { contextStorage } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(contextStorage, "AsyncLocalStorage"); // on Deno
 * ```
 */
export const contextStorage: ContextStorageKind = picked.kind;

/** What a flow sees in which nothing was bound. */
export const ROOT: Frame = shared("root frame", () => [
  rootThread,
  rootThread.instances,
  undefined,
  undefined,
]);

/** The current frame. */
export function currentFrame(): Frame {
  return storage.getStore() ?? ROOT;
}

/** The thread whose work the frame is. */
export function ownerOf(frame: Frame): Thread {
  return (frame[OWNER] as Thread["instances"])[0] as Thread;
}

/** The place of the slot that was declared as number `index`, from 0. */
export function placeOf(index: number): Place {
  if (index < FLAT) return { place: HEADER + index, offset: -1 };
  const rest = index - FLAT;
  return {
    place: SHARED_PLACES + Math.floor(rest / CHUNK),
    offset: rest % CHUNK,
  };
}

/** The inverse of {@linkcode placeOf}, for every binding of a frame: slot numbers, ascending. */
export function* boundIndexes(frame: Frame): Generator<number> {
  for (let place = HEADER; place < frame.length; place++) {
    const held = frame[place];
    if (held === undefined) continue;
    if (place < SHARED_PLACES) {
      yield place - HEADER;
      continue;
    }
    const chunk = held as unknown[];
    for (let offset = 0; offset < CHUNK; offset++) {
      if (chunk[offset] !== undefined) {
        yield FLAT + (place - SHARED_PLACES) * CHUNK + offset;
      }
    }
  }
}

/** What stands in a slot's place: `undefined` if unbound, else to be passed to {@linkcode valueOf}. */
export function lookUp(frame: Frame, at: Place): unknown {
  const held = frame[at.place];
  if (at.offset < 0 || held === undefined) return held;
  return (held as unknown[])[at.offset];
}

/** The value of what {@linkcode lookUp} found bound. */
export function valueOf(held: unknown): unknown {
  return held === BOUND_UNDEFINED ? undefined : held;
}

/** How a value stands in a frame. */
export function held(value: unknown): unknown {
  return value === undefined ? BOUND_UNDEFINED : value;
}

/** A copy of `frame` in which `what` (as {@linkcode lookUp} gives it) stands in the slot's place. */
export function put(frame: Frame, at: Place, what: unknown): FrameDraft {
  const { place, offset } = at;
  const draft = copy(frame, place + 1);
  if (offset < 0) {
    draft[place] = what;
  } else {
    const chunk = (draft[place] as unknown[] | undefined ?? EMPTY_CHUNK).slice();
    chunk[offset] = what;
    draft[place] = chunk;
  }
  return draft;
}

/** Puts `what` into a frame that is being built, and whose inner arrays are its own. */
export function write(draft: FrameDraft, at: Place, what: unknown): void {
  const { place, offset } = at;
  while (draft.length <= place) draft.push(undefined);
  if (offset < 0) draft[place] = what;
  else ((draft[place] ??= EMPTY_CHUNK.slice()) as unknown[])[offset] = what;
}

/** An array without holes, as `new Array(…)` and what is made of it are not: quicker to read. */
function unbound(length: number): unknown[] {
  return [...new Array(length)];
}

const EMPTY_CHUNK: readonly unknown[] = unbound(CHUNK);

/**
 * A copy with at least `length` places.
 *
 * The literals are there for speed: V8 counts how many arrays of each literal survive and begins
 * to allocate them in old space, which it does not do for `slice()`. A frame nearly always
 * survives: on Deno the platform's WeakMap holds it until the next major collection. Measured in
 * `benches/`: `run` with 16 slots bound costs half as much with the literals.
 */
export function copy(f: Frame, length: number): FrameDraft {
  const places = Math.max(f.length, length);
  if (places <= 5) return [f[0], f[1], f[2], f[3], f[4]];
  // deno-fmt-ignore
  if (places <= 8) return [f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]];
  // deno-fmt-ignore
  if (places <= 12) {
    return [f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11]];
  }
  // deno-fmt-ignore
  if (places <= 16) {
    return [f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11],
            f[12], f[13], f[14], f[15]];
  }
  // deno-fmt-ignore
  if (places <= SHARED_PLACES) {
    return [f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11],
            f[12], f[13], f[14], f[15], f[16], f[17], f[18], f[19]];
  }
  if (f.length >= places) return f.slice();
  const draft = unbound(places);
  for (let place = 0; place < f.length; place++) draft[place] = f[place];
  return draft;
}
