import { DuplicateSlotError } from "../registry/errors.ts";
import {
  BOUND_UNDEFINED,
  copy,
  currentFrame,
  GUARD,
  held,
  NODE,
  OWNER,
  ownerOf,
  storage,
  THREAD,
  valueOf,
} from "../registry/frame.ts";
import { makeInspectable } from "../registry/inspect.ts";
import { runIn } from "../registry/scope.ts";
import { shared } from "../registry/shared.ts";
import { captureSite, position, type Site } from "../registry/site.ts";
import { rootThread, type Thread } from "../registry/thread.ts";

/** What can be said of a RankLocal beside how its instances are made. */
export interface RankLocalOptions {
  /** Two declarations of one key are one RankLocal, if both say so. Default: `false`. */
  readonly shared?: boolean;
}

const byKey = shared("rank locals", () => new Map<string, RankLocal<unknown>>());

/** For {@linkcode RankLocal.get}: the module's own constants. See `ThreadLocal.get`. */
const ownStorage = storage;
const owner = OWNER;
const root = rootThread.instances;
const boundUndefined = BOUND_UNDEFINED;

/** An instance that is being created, inside the creation of another. */
interface Creation {
  readonly thread: Thread;
  readonly outer: Creation | undefined;
}

/** Where a collected thread may still be listed, sweep when the list has doubled. */
const SWEEP_AT_LEAST = 64;

/**
 * One instance of `T` for each logical thread, keyed by the *forward* thread: deferred work that
 * runs elsewhere finds the instance of the thread that enqueued it.
 *
 * {@linkcode RankLocal.get} asks the node first: inside the evaluation of a node it returns the
 * instance of the node's forward thread, also on a thread that has an instance of its own. Outside
 * it returns the current thread's. All flows of a thread share its instance; a fork gets its own.
 *
 * An instance lives as long as its thread can be reached, or until {@linkcode Thread.end}.
 *
 * The contract is that of PyTorch's `c10d::RankLocal`, with its faults mended.
 *
 * @typeParam T The type of the instances.
 *
 * @example
 * ```ts
 * import { fork, RankLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * let made = 0;
 * const group = new RankLocal("rank_local.group", () => ({ number: ++made }));
 *
 * const ranks = await Promise.all([
 *   fork(() => [group.get().number, group.get().number]),
 *   fork(() => [group.get().number]),
 * ]);
 *
 * assertEquals(ranks, [[1, 1], [2]]);
 * ```
 */
export class RankLocal<T> {
  /** The name under which it was declared. */
  readonly key: string;
  private readonly create: () => T;
  private readonly shared: boolean;
  private readonly declared: Site;
  /** Where a thread holds its instance: itself comes first. */
  private readonly index: number = byKey.size + 1;
  /** The threads that have, or had, an instance. */
  private threads: WeakRef<Thread>[] = [];
  private sweepAt = SWEEP_AT_LEAST;
  /** Those whose instance is being created: a `create` may ask for another thread's. */
  private creating: Creation | undefined = undefined;

  /**
   * Declares it; instances are created when they are first asked for.
   *
   * @param key Not empty, unique among the RankLocals of the isolate.
   * @param create Makes a thread's instance, with that thread as the current one and the bindings of
   * the work that asks first. What it starts for longer (a timer, a pool) belongs in `detached`.
   * @throws {DuplicateSlotError} If the key is declared already, and not both say `shared: true`.
   * @throws {TypeError} If the key is not a non-empty string or `create` is not a function.
   */
  constructor(key: string, create: () => T, options: RankLocalOptions = {}) {
    if (typeof key !== "string" || key === "") {
      throw new TypeError(
        `Cannot declare a RankLocal: its key must be a non-empty string, got ${
          key === "" ? "an empty one" : typeof key
        }`,
      );
    }
    if (typeof create !== "function") {
      throw new TypeError(
        `Cannot declare RankLocal "${key}": create must be a function that makes one instance, ` +
          `got ${typeof create}`,
      );
    }
    this.key = key;
    this.create = create;
    this.shared = options.shared ?? false;
    this.declared = captureSite(new.target);
    const first = byKey.get(key);
    if (first !== undefined) {
      if (first.shared && this.shared) return first as RankLocal<T>;
      throw new DuplicateSlotError(key, position(first.declared), position(this.declared));
    }
    byKey.set(key, this as RankLocal<unknown>);
  }

  /**
   * The instance of the forward thread that the current work runs for. O(1), however many threads
   * there are; allocates nothing once the instance exists.
   *
   * @throws What `create` throws; then nothing is kept, and the next call tries again.
   * @throws {Error} If that thread has ended, or if `create` asks for the instance it is creating.
   */
  get(): T {
    // valueOf() is written out: a call to an imported function costs a nanosecond.
    const frame = ownStorage.getStore();
    // The node before anything else: a thread that has an instance of its own may be evaluating
    // another's work.
    const instances = frame === undefined ? root : frame[owner] as unknown[];
    const found = instances[this.index];
    if (found === undefined) return this.createFor(instances[0] as Thread);
    return (found === boundUndefined ? undefined : found) as T;
  }

  /** The first instance, of whatever thread, of which `predicate` is true; `undefined` if none. */
  findAcrossAll(predicate: (instance: T, thread: Thread) => boolean): T | undefined {
    for (const [thread, instance] of this) if (predicate(instance, thread)) return instance;
    return undefined;
  }

  /** How many threads have an instance. O(threads). */
  get size(): number {
    return this.entries().length;
  }

  /**
   * The threads that have an instance, and it, in the order of creation: those that there were when
   * the iteration began, so that creating one meanwhile is safe.
   */
  [Symbol.iterator](): IterableIterator<[thread: Thread, instance: T]> {
    return this.entries().values();
  }

  /**
   * Lets go of the instance that {@linkcode get} would return, without disposing it; the next `get`
   * creates another.
   *
   * @returns Whether there was one.
   */
  delete(): boolean {
    const thread = ownerOf(currentFrame());
    const found = thread.instances[this.index];
    if (found === undefined) return false;
    thread.instances[this.index] = undefined;
    this.threads = this.threads.filter((ref) => ref.deref() !== thread);
    return true;
  }

  /** What the iteration sees. */
  private entries(): [Thread, T][] {
    const entries: [Thread, T][] = [];
    for (const ref of this.threads) {
      const thread = ref.deref();
      const found = thread?.instances[this.index];
      if (found !== undefined) entries.push([thread!, valueOf(found) as T]);
    }
    return entries;
  }

  /** Creates the instance of `thread`. */
  private createFor(thread: Thread): T {
    if (thread.hasEnded) this.refuse(thread);
    if (isCreating(this.creating, thread)) {
      throw new Error(
        `Cannot get "${this.key}": its create() is still running for this thread, and asks for it`,
      );
    }
    const outer = this.creating;
    this.creating = { thread, outer };
    let instance: T;
    try {
      instance = this.createAs(thread);
    } finally {
      this.creating = outer;
    }
    thread.keep(this.index, held(instance));
    if (thread.hasEnded) this.refuse(thread);
    this.list(thread);
    return instance;
  }

  /** Throws: there are no instances for a thread that has ended. */
  private refuse(thread: Thread): never {
    throw new Error(
      `Cannot get "${this.key}": thread "${thread.name}" (${thread.id}) has ended. ` +
        `End a thread after the last of its work`,
    );
  }

  /** Calls `create` with `thread` as the current one, and the present bindings; it is confined. */
  private createAs(thread: Thread): T {
    const frame = currentFrame();
    const { create } = this;
    if (frame[THREAD] !== thread || ownerOf(frame) !== thread || frame[NODE] !== undefined) {
      const draft = copy(frame, frame.length);
      draft[THREAD] = thread;
      draft[OWNER] = thread.instances;
      draft[GUARD] = draft[NODE] = undefined;
      return runIn(draft, create, []);
    }
    // In the thread's own frame already: a scope of its own would cost more than the instance.
    try {
      return create();
    } finally {
      if (currentFrame() !== frame) storage.enterWith(frame);
    }
  }

  /** Lists `thread`, and keeps the list within twice the number of threads that live. */
  private list(thread: Thread): void {
    if (this.threads.length >= this.sweepAt) {
      this.threads = this.threads.filter((ref) => ref.deref() !== undefined);
      this.sweepAt = Math.max(SWEEP_AT_LEAST, 2 * this.threads.length);
    }
    this.threads.push(new WeakRef(thread));
  }
}

makeInspectable(
  RankLocal.prototype as RankLocal<unknown>,
  ({ key, size }) => Object.entries({ key, size }),
);

function isCreating(creation: Creation | undefined, thread: Thread): boolean {
  for (; creation !== undefined; creation = creation.outer) {
    if (creation.thread === thread) return true;
  }
  return false;
}
