import { EventEmitter } from "node:events";
import { bindEmitter, bindIterator, bindThreadLocalState, fork } from "@thread-local/core";
import { type Chunk, parallelFor, threadLocalPool } from "@thread-local/core/workers";
import PQueue from "p-queue";
import { FixedThreadPool } from "poolifier-web-worker";
import { user } from "./_user.ts";
import type { Answer } from "./_worker.ts";
import type { Check } from "./tally.ts";

/** The work of one task, which runs in the state of its user. */
export type Work = (check: Check) => Promise<void>;

/**
 * Where the tasks go. They share all of it: the queue, the emitters, the workers, and whoever
 * consumes the iterators. Each leaves another value behind where it can.
 *
 * Unbound, it has what a program without the library has, and shows what the checks find.
 */
export class Workload {
  static readonly WORKERS = 4;

  private readonly queue = new PQueue({ concurrency: 20 });
  private readonly target = new EventTarget();
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private readonly belt: (Iterable<void> | AsyncIterable<void>)[] = [];
  private readonly pool: FixedThreadPool<Chunk, Answer>;
  private ringing = false;
  private consuming = false;

  /** Each kind of work, by its name. */
  readonly kinds: Readonly<Record<string, Work>> = {
    "fork": (check) => this.fork(check),
    "job of a p-queue": (check) => this.enqueue(check),
    "listener of an EventTarget": (check) => this.listenToTarget(check),
    "listener of an EventEmitter": (check) => this.listenToEmitter(check),
    "iterator": (check) => this.iterate(check),
    "parallelFor": (check) => this.loop(check),
    "task of a worker": (check) => this.visitWorker(check),
    "parallelFor on workers": (check) => this.loopOnWorkers(check),
  };

  constructor(private readonly bound: boolean) {
    const pool = new FixedThreadPool<Chunk, Answer>(
      Workload.WORKERS,
      new URL("./_worker.ts", import.meta.url),
    );
    this.pool = bound ? threadLocalPool(pool) : pool;
    if (!bound) return;
    bindEmitter(this.target);
    bindEmitter(this.emitter);
  }

  /** Bytes in use in each worker, after a collection. */
  async workerHeaps(): Promise<number[]> {
    const heaps = new Map<string, number>();
    // The pool picks the worker: of several tasks at once it gives each to another.
    while (heaps.size < Workload.WORKERS) {
      const nothing = Array.from({ length: Workload.WORKERS }, () => ({ begin: 0, end: 0 }));
      for (const { worker, heap } of await this.pool.mapExecute(nothing, "measure")) {
        heaps.set(worker, heap!);
      }
    }
    return [...heaps.values()];
  }

  async end(): Promise<void> {
    await this.pool.destroy();
  }

  private async fork(check: Check): Promise<void> {
    const start: (fn: () => void | Promise<void>) => void | Promise<void> = this.bound
      ? fork
      : call;
    await start(async () => {
      check.read();
      await leaveTurn();
      check.read();
    });
    await start(() => {
      check.read();
      leaveBehind();
    });
    check.read();
  }

  private async enqueue(check: Check): Promise<void> {
    const job = async (): Promise<void> => {
      check.read();
      await leaveTurn();
      check.read();
      leaveBehind();
    };
    await this.queue.add(this.bound ? bindThreadLocalState(job) : job);
    check.read();
  }

  private async listenToTarget(check: Check): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = (): void => {
      check.read();
      resolve();
      leaveBehind();
    };
    this.target.addEventListener("ring", listener);
    this.ringSoon();
    await promise;
    check.read();
    this.target.removeEventListener("ring", listener);
  }

  private async listenToEmitter(check: Check): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.emitter.once("ring", () => {
      check.read();
      resolve();
      leaveBehind();
    });
    this.ringSoon();
    await promise;
    check.read();
  }

  /** Rings once for everyone who listens, in the state of the first. */
  private ringSoon(): void {
    if (this.ringing) return;
    this.ringing = true;
    setTimeout(() => {
      this.ringing = false;
      this.target.dispatchEvent(new Event("ring"));
      this.emitter.emit("ring");
    });
  }

  private async iterate(check: Check): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    function* steps(): Generator<void> {
      check.read();
      yield;
      check.read();
      leaveBehind();
    }
    async function* asyncSteps(): AsyncGenerator<void> {
      check.read();
      yield;
      await leaveTurn();
      check.read();
      yield;
      check.read();
      resolve();
    }
    const [one, other] = [steps(), asyncSteps()];
    this.belt.push(
      this.bound ? bindIterator(one) : one,
      this.bound ? bindIterator(other) : other,
    );
    this.consumeSoon();
    await promise;
    check.read();
  }

  /** Consumes what is on the belt, in the state of the first who put something there. */
  private consumeSoon(): void {
    if (this.consuming) return;
    this.consuming = true;
    setTimeout(() => {
      this.consuming = false;
      for (const it of this.belt.splice(0)) consume(it);
    });
  }

  private async loop(check: Check): Promise<void> {
    const body = (begin: number): void | Promise<void> => {
      check.read();
      if (begin % 2 === 0) return leaveTurn().then(() => check.read());
      leaveBehind();
    };
    if (this.bound) await parallelFor({ begin: 0, end: 4, concurrency: 2, grainSize: 1 }, body);
    else for (let begin = 0; begin < 4; begin++) await body(begin);
    check.read();
  }

  private async visitWorker(check: Check): Promise<void> {
    const { reads } = await this.pool.execute(undefined, "visit");
    for (const read of reads) check.compare(read);
    check.read();
  }

  private async loopOnWorkers(check: Check): Promise<void> {
    const range = { begin: 0, end: 2, grainSize: 1 };
    const answers = this.bound
      ? await parallelFor(range, "visit", this.pool)
      : await this.pool.mapExecute([{ begin: 0, end: 1 }, { begin: 1, end: 2 }], "visit");
    for (const { reads } of answers) for (const read of reads) check.compare(read);
    check.read();
  }
}

function leaveTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Binds what nobody should ever read. */
function leaveBehind(): void {
  user.set("left behind");
}

/** What a program has in place of a fork. */
function call<R>(fn: () => R): R {
  return fn();
}

async function consume(it: Iterable<void> | AsyncIterable<void>): Promise<void> {
  for await (const _ of it);
}
