// In a file of its own: the pool's timers for task stealing outlive the pool.
import { threadLocalPool } from "@thread-local/core/workers";
import { assert, assertEquals } from "@std/assert";
import { FixedThreadPool } from "poolifier-web-worker";
import { user } from "./_slots.ts";
import type { Request } from "./_tasks.ts";

type TestPool = FixedThreadPool<Request, unknown>;

/** A task that runs in ann's state until it is told to end. */
async function startTask(pool: TestPool): Promise<{ task: Promise<unknown>; end(): void }> {
  const { port1, port2 } = new MessageChannel();
  const started = new Promise((resolve) => port1.onmessage = resolve);
  const task = user.run("ann", () => pool.execute({ port: port2 }, "wait", undefined, [port2]));
  await started;
  return {
    task,
    end() {
      port1.postMessage("end");
      port1.close();
    },
  };
}

Deno.test(
  "threadLocalPool() keeps the pool's books right for a task that another worker takes over",
  {
    sanitizeOps: false,
    sanitizeResources: false,
  },
  async () => {
    const url = new URL("./_tasks.ts", import.meta.url);
    const pool = threadLocalPool(
      new FixedThreadPool<Request, unknown>(2, url, {
        enableTasksQueue: true,
        tasksQueueOptions: { concurrency: 1 },
      }),
    );
    const [first, second] = [await startTask(pool), await startTask(pool)];
    const queued = Array.from({ length: 4 }, () => user.run("bob", () => pool.execute({}, "read")));

    second.end();

    assertEquals(await Promise.all(queued), Array(4).fill("bob/unbound"));
    assert(pool.info.stolenTasks! > 0);
    first.end();
    await Promise.all([first.task, second.task]);
    assertEquals(pool.info.executingTasks, 0);
    await pool.destroy();
  },
);
