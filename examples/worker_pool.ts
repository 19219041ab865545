/**
 * My worker pool's tasks see no user: what do I do?
 *
 * A worker is another isolate: nothing of the caller's state is there unless it is sent. Declare
 * the slot with `wire` (nothing leaves without), adapt the pool, and make its workers with
 * `threadLocalWorker`: see worker_pool_worker.ts.
 */
import { ThreadLocal } from "@thread-local/core";
import { threadLocalPool } from "@thread-local/core/workers";
import { FixedThreadPool } from "poolifier-web-worker";

const user = new ThreadLocal("worker_pool.user", { initial: "nobody", wire: true });

const bare = new FixedThreadPool<string, string>(
  2,
  new URL("./worker_pool_worker.ts", import.meta.url),
);
const pool = threadLocalPool(bare);

const render = () => pool.execute("page", "render");
const renderBare = () => bare.execute("page", "render");

const callers = Array.from({ length: 200 }, (_, index) => `user-${index}`);

/** How many of 200 callers at once get another's page, or are somebody else when they have it. */
async function countWrong(render: () => Promise<string>): Promise<number> {
  const right = await Promise.all(callers.map((caller) =>
    user.run(caller, async () => {
      const page = await render();
      return page === `page for ${caller}` && user.get() === caller;
    })
  ));
  return right.filter((isRight) => !isRight).length;
}

const wrong = await countWrong(render);
const wrongBare = await countWrong(renderBare);
await pool.destroy();

console.log(`worker pool: ${wrong} of ${callers.length} pages were rendered for the wrong user`);
console.log(`  (${wrongBare} where the pool is not adapted)`);
Deno.exitCode = wrong === 0 && wrongBare > 0 ? 0 : 1;
