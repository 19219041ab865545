// The worker of worker_pool.ts: another isolate, which declares the slot of that key for itself.
import { ThreadLocal } from "@thread-local/core";
import { threadLocalWorker } from "@thread-local/core/workers/worker";

const user = new ThreadLocal("worker_pool.user", { initial: "nobody", wire: true });

/** Renders for the current user, whom nobody names to it. */
async function render(page?: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve));
  return `${page} for ${user.get()}`;
}

threadLocalWorker({ render });
