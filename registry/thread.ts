import { shared } from "./shared.ts";

const COUNTER_BITS = 48n;

interface ThreadCounter {
  worker: number;
  base: number;
  last: number;
}

const counter = shared<ThreadCounter>("thread counter", () => ({ worker: 0, base: 0, last: 0 }));

/**
 * One logical thread: the root thread of an isolate, or one begun by a fork.
 *
 * Its id is `worker << 48 | number`: the worker's 16 bits keep threads of different isolates and
 * processes apart, the number is never reused.
 */
export class Thread {
  /** What the fork was called; `"root"` for a root thread. */
  readonly name: string;
  // Numbers, not ids: making a bigint at every fork would cost more than the fork's frame, and the
  // worker's bits are told to an isolate after its root thread began.
  private readonly number: number = ++counter.last;
  // The parent's number, not the parent: a child must not keep its ancestors alive.
  private readonly parentNumber: number;

  /** Begins a thread; without a parent, a root thread. */
  constructor(name: string, parent?: Thread) {
    this.name = name;
    this.parentNumber = parent?.number ?? 0;
  }

  /** Unique among all isolates whose worker ids differ: 64 bits, greater than 0. */
  get id(): bigint {
    return toId(this.number);
  }

  /** The id of the thread that began this one; `undefined` for a root thread. */
  get parentId(): bigint | undefined {
    return this.parentNumber === 0 ? undefined : toId(this.parentNumber);
  }
}

function toId(number: number): bigint {
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

/** The thread of everything in this isolate that no fork began. */
export const rootThread: Thread = shared("root thread", () => new Thread("root"));
