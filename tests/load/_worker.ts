// A worker of the load.
import { fork } from "@thread-local/core";
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import type { Chunk } from "@thread-local/core/workers";
import { heapInUse } from "./_heap.ts";
import { user } from "./_user.ts";

/** What a task of a worker answers. */
export interface Answer {
  /** Which worker it was. */
  readonly worker: string;
  /** Each user that was read. */
  readonly reads: readonly string[];
  /** In bytes. */
  readonly heap?: number;
}

const worker = crypto.randomUUID();

threadLocalWorker<Chunk, Answer>({
  async visit() {
    const reads = [user.get()];
    await new Promise((resolve) => setTimeout(resolve));
    reads.push(user.get());
    reads.push(
      await fork(async () => {
        await null;
        return user.get();
      }),
    );
    // For the next task of this worker to stumble over.
    user.set("left behind");
    return { worker, reads };
  },
  measure: async () => ({ worker, reads: [], heap: await heapInUse() }),
});
