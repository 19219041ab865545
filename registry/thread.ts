import { makeInspectable } from "./inspect.ts";
import { shared } from "./shared.ts";

const COUNTER_BITS = 48n;

interface ThreadCounter {
  worker: number;
  base: number;
  last: number;
}

const counter = shared<ThreadCounter>("thread counter", () => ({ worker: 0, base: 0, last: 0 }));

/** What a thread held that has ended in this very turn: a create() may still add to it. */
const ending = new WeakMap<Thread, unknown[]>();

/**
 * One logical thread: the root thread of an isolate, or one begun by a fork.
 *
 * Its id is `worker << 48 | number`: the worker's 16 bits keep threads of different isolates and
 * processes apart, the number is never reused.
 *
 * @example
 * ```ts
 * import { currentThread } from "@thread-local/core/rank-local";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const thread = currentThread();
 *
 * assertEquals(thread.name, "root");
 * assertEquals(thread.parentId, undefined);
 * assert(thread.id > 0n);
 * ```
 */
export class Thread {
  /** What the fork was called; `"root"` for a root thread. */
  readonly name: string;
  /**
   * @internal The thread itself, and what its RankLocals hold for it, by their index, from 1. They are
   * the thread's, so that they go when it can no longer be reached. Frames name the owner of their
   * work by this list: that spares `RankLocal.get` one load of four. Of length 1, it has ended.
   */
  readonly instances: unknown[] = [this, undefined];
  // Numbers, not ids: making a bigint at every fork would cost more than the fork's frame, and the
  // worker's bits are told to an isolate after its root thread began. A foreign thread's is its id.
  private readonly number: number | bigint;
  // The parent's number, not the parent: a child must not keep its ancestors alive.
  private readonly parentNumber: number | bigint;

  /**
   * @internal Begins a thread: without a parent, a root thread. With an id it is the record, here,
   * of a thread of another isolate.
   */
  constructor(name: string, parent?: Thread, foreignId?: bigint) {
    this.name = name;
    this.number = foreignId ?? ++counter.last;
    this.parentNumber = parent?.number ?? 0;
  }

  /** @internal Keeps an instance; if the thread ended while it was made, for disposal only. */
  keep(index: number, instance: unknown): void {
    const instances = ending.get(this) ?? this.instances;
    while (instances.length <= index) instances.push(undefined);
    instances[index] = instance;
  }

  /** Unique among all isolates whose worker ids differ: 64 bits, greater than 0. */
  get id(): bigint {
    return toId(this.number);
  }

  /** The id of the thread that began this one; `undefined` for a root thread. */
  get parentId(): bigint | undefined {
    return this.parentNumber === 0 ? undefined : toId(this.parentNumber);
  }

  /** @internal Whether it is the record of a thread of another isolate. */
  get isForeign(): boolean {
    return typeof this.number === "bigint";
  }

  /** Whether {@linkcode Thread.end} was called. */
  get hasEnded(): boolean {
    return this.instances.length === 1;
  }

  /**
   * Ends the thread's hold on its instances: they are let go, and those with `Symbol.asyncDispose`
   * or `Symbol.dispose` are disposed one after the other, last declared first. Work of the thread
   * that is still running goes on, but gets no instances any more. A second call does nothing, and
   * does not wait for the first.
   *
   * @returns Resolves when all are disposed.
   * @throws {AggregateError} (rejects) If disposing threw; all others were disposed all the same.
   */
  async end(): Promise<void> {
    const instances = this.instances.slice();
    this.instances.length = 1;
    ending.set(this, instances);
    const errors: unknown[] = [];
    // Whoever ends a thread from within a create() has its instance in the list only after that.
    await undefined;
    ending.delete(this);
    for (let index = instances.length - 1; index > 0; index--) {
      try {
        await dispose(instances[index]);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) {
      throw new AggregateError(
        errors,
        `Cannot dispose ${errors.length} of the instances of thread "${this.name}": see errors`,
      );
    }
  }
}

makeInspectable(
  Thread.prototype,
  ({ id, name, parentId }) => Object.entries({ id, name, parentId }),
);

function toId(number: number | bigint): bigint {
  if (typeof number === "bigint") return number;
  return (BigInt(counter.worker) << COUNTER_BITS) | BigInt(counter.base + number);
}

/** What an isolate must know for its thread ids to be its own. */
export interface WorkerNumber {
  /** The top 16 bits of its thread ids: 1 … 65,535; 0 is the isolate that hands them out. */
  readonly worker: number;
  /** Where its threads are counted from, once every worker number was handed out. */
  readonly base: number;
}

/** This isolate's own. */
export function workerNumber(): WorkerNumber {
  return { worker: counter.worker, base: counter.base };
}

/**
 * Makes the ids of this isolate's threads, of those begun already too, its own. The first call
 * holds: ids that were read must stay what they are.
 */
export function takeWorkerNumber({ worker, base }: WorkerNumber): void {
  if (counter.worker !== 0) return;
  counter.worker = worker;
  counter.base = base;
}

async function dispose(instance: unknown): Promise<void> {
  const { [Symbol.asyncDispose]: later, [Symbol.dispose]: now } = Object(
    instance,
  ) as Partial<AsyncDisposable & Disposable>;
  if (typeof later === "function") await later.call(instance as AsyncDisposable);
  else if (typeof now === "function") now.call(instance as Disposable);
}

/** The thread of everything in this isolate that no fork began. */
export const rootThread: Thread = shared("root thread", () => new Thread("root"));
