import { shared } from "./shared.ts";

const COUNTER_BITS = 48n;

interface ThreadCounter {
  worker: number;
  last: number;
}

const counter = shared<ThreadCounter>("thread counter", () => ({ worker: 0, last: 0 }));

/**
 * One logical thread: the root thread of an isolate, or one begun by a fork.
 *
 * Its id is `worker << 48 | number`: the worker's 16 bits keep threads of different isolates and
 * processes apart, the number is never reused.
 */
export class Thread {
  /** What the fork was called; `"root"` for a root thread. */
  readonly name: string;
  // Ids are kept as numbers: making a bigint at every fork would cost more than the fork's frame.
  private readonly worker: number = counter.worker;
  private readonly number: number = ++counter.last;
  // The parent's id, not the parent: a child must not keep its ancestors alive.
  private readonly parentWorker: number;
  private readonly parentNumber: number;

  /** Begins a thread; without a parent, a root thread. */
  constructor(name: string, parent?: Thread) {
    this.name = name;
    this.parentWorker = parent?.worker ?? 0;
    this.parentNumber = parent?.number ?? 0;
  }

  /** Unique among all isolates whose worker ids differ: 64 bits, greater than 0. */
  get id(): bigint {
    return toId(this.worker, this.number);
  }

  /** The id of the thread that began this one; `undefined` for a root thread. */
  get parentId(): bigint | undefined {
    return this.parentNumber === 0 ? undefined : toId(this.parentWorker, this.parentNumber);
  }
}

function toId(worker: number, number: number): bigint {
  return (BigInt(worker) << COUNTER_BITS) | BigInt(number);
}

/** The thread of everything in this isolate that no fork began. */
export const rootThread: Thread = shared("root thread", () => new Thread("root"));
