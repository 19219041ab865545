import {
  copy,
  currentFrame,
  type Frame,
  type FrameDraft,
  GUARD,
  held,
  lookUp,
  NODE,
  OWNER,
  put,
  THREAD,
  valueOf,
} from "../registry/frame.ts";
import { runIn } from "../registry/scope.ts";
import { Thread } from "../registry/thread.ts";
import { slots, type ThreadLocal } from "../registry/thread_local.ts";
import { settleCarried } from "../registry/wire.ts";

/** How a fork is begun. */
export interface ForkOptions {
  /** What the thread is called. Default: the name of the function, or `"fork"` if it has none. */
  readonly name?: string;
}

/**
 * Calls `fn` as a new thread, with an id of its own, and returns a promise of its result.
 *
 * The thread starts, synchronously, with the bindings of its parent, except that slots declared
 * with `inherit: false` are unbound and slots declared with `fork` have the copy which that makes.
 * What it binds, also in the part before its first `await`, is never seen by the parent: return a
 * result instead. A guard of the parent cannot be closed in it.
 *
 * Costs at most two raw `AsyncLocalStorage.run`, whatever is bound; where a slot with a policy is
 * bound, what its policy costs on top.
 *
 * @typeParam A The types of the arguments.
 * @typeParam R What `fn` returns.
 * @param fn The function to call.
 * @param options The name of the thread.
 * @param args The arguments for `fn`.
 * @returns A promise of what `fn` returns. It rejects with what `fn` throws; with an `Error` that
 * names the key if a slot's `fork` throws (`fn` is not called then); with a `TypeError` if an
 * argument is not as it should be. Nothing is thrown synchronously.
 *
 * @example
 * ```ts
 * import { fork, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("fork.user", { initial: "nobody" });
 * const tags = new ThreadLocal<string[]>("fork.tags", { initial: [], fork: (tags) => [...tags] });
 *
 * await user.run("ann", () =>
 *   tags.run(["web"], async () => {
 *     const forked = await fork(
 *       (tag: string) => {
 *         tags.get().push(tag);
 *         return [user.get(), ...tags.get()];
 *       },
 *       { name: "audit" },
 *       "slow",
 *     );
 *
 *     assertEquals(forked, ["ann", "web", "slow"]);
 *     assertEquals(tags.get(), ["web"]);
 *   }));
 * ```
 */
export function fork<A extends unknown[], R>(
  fn: (...args: A) => R,
  options?: ForkOptions,
  ...args: A
): Promise<Awaited<R>> {
  try {
    if (typeof fn !== "function") {
      throw new TypeError(`Cannot fork: expected a function, got ${typeof fn}`);
    }
    return forkFrom(currentFrame(), nameOf(options) ?? (fn.name || "fork"), fn, args);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Begins a thread whose parent is in the frame `parent`. Throws only if it could not begin. */
export function forkFrom<A extends unknown[], R>(
  parent: Frame,
  name: string,
  fn: (...args: A) => R,
  args: A,
): Promise<Awaited<R>> {
  return runIn(forkFrame(parent, name), settle<A, R>, [fn, args]);
}

/** Called in the thread's frame: a thenable that works only when it is awaited works there too. */
function settle<A extends unknown[], R>(fn: (...args: A) => R, args: A): Promise<Awaited<R>> {
  try {
    return Promise.resolve(fn(...args)) as Promise<Awaited<R>>;
  } catch (error) {
    return Promise.reject(error);
  }
}

function forkFrame(from: Frame, name: string): Frame {
  // A policy holds for what a wire carried too.
  const parent = settleCarried(from);
  let draft: FrameDraft = copy(parent, parent.length);
  for (const slot of slots.withForkPolicy) {
    const found = lookUp(parent, slot);
    if (found === undefined) continue;
    draft = put(draft, slot, slot.inherit ? held(copyOf(slot, valueOf(found), parent)) : undefined);
  }
  const thread = new Thread(name, parent[THREAD] as Thread);
  draft[THREAD] = thread;
  draft[OWNER] = thread.instances;
  draft[GUARD] = draft[NODE] = undefined;
  return draft;
}

/** Confined: what a `fork` option binds must reach neither thread. */
function copyOf(slot: ThreadLocal<unknown>, value: unknown, parent: Frame): unknown {
  try {
    return runIn(parent, slot.fork!, [value]);
  } catch (cause) {
    throw new Error(
      `Cannot fork: the fork option of "${slot.key}" threw, so there is no value for the thread. ` +
        `It must return a copy of every value that is bound to the slot`,
      { cause },
    );
  }
}

function nameOf(options: ForkOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot fork: its options must be an object such as { name: … }, before the arguments of ` +
        `the function, got ${options === null ? "null" : typeof options}`,
    );
  }
  const { name } = options;
  if (name !== undefined && typeof name !== "string") {
    throw new TypeError(`Cannot fork: the name must be a string, got ${typeof name}`);
  }
  return name;
}
