import { onMisuse } from "@thread-local/core";
import { heapInUse } from "./_heap.ts";
import { user } from "./_user.ts";
import { Check, Tally } from "./tally.ts";
import { Workload } from "./workload.ts";

/** Distinct users. Each of them gets tasks of every kind. */
export const USERS = 1_000;

/** Tasks that are in progress at once. What they need is all the memory that is needed. */
export const AT_ONCE = 200;

/** Bytes in use when no task is in progress. */
export interface Heaps {
  readonly here: number;
  /** All of them together. */
  readonly workers: number;
}

/** Many tasks by many users at once, and what each of them reads. */
export class Load {
  /** By kind. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** What those who start the tasks read between them: nothing should be bound. */
  readonly outside: Tally = new Tally();
  readonly users: Set<string> = new Set();
  /** Reports of misuse. Nothing is misused. */
  misuse = 0;
  private readonly workload: Workload;
  private begun = 0;

  constructor(bound: boolean) {
    this.workload = new Workload(bound);
    this.tallies = new Map(Object.keys(this.workload.kinds).map((kind) => [kind, new Tally()]));
    onMisuse(() => this.misuse++);
  }

  /** All kinds together. */
  get total(): Tally {
    const total = new Tally();
    for (const { tasks, reads, wrong } of [...this.tallies.values(), this.outside]) {
      total.tasks += tasks;
      total.reads += reads;
      total.wrong += wrong;
    }
    return total;
  }

  /** Goes on until this many tasks have been done, and measures the heaps then. */
  async perform(tasks: number): Promise<Heaps> {
    const lane = async (): Promise<void> => {
      while (this.begun < tasks) await this.performTask(this.begun++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    const workers = await this.workload.workerHeaps();
    return { here: await heapInUse(), workers: workers.reduce((sum, heap) => sum + heap, 0) };
  }

  async end(): Promise<void> {
    await this.workload.end();
  }

  private async performTask(index: number): Promise<void> {
    const kinds = Object.entries(this.workload.kinds);
    const [kind, work] = kinds[index % kinds.length];
    const name = `user-${Math.floor(index / kinds.length) % USERS + 1}`;
    const tally = this.tallies.get(kind)!;
    this.users.add(name);
    await user.run(name, work, new Check(tally, name));
    tally.tasks++;
    new Check(this.outside, "nobody").read();
  }
}
