/**
 * My queue's jobs run for the wrong user: what do I do?
 *
 * A queue starts a job at the moment an earlier one ends, and so in the earlier one's state. Bind
 * the job where it is enqueued.
 */
import { bindThreadLocalState, ThreadLocal } from "@thread-local/core";
import PQueue from "p-queue";

const user = new ThreadLocal("queue.user", { initial: "nobody" });
const queue = new PQueue({ concurrency: 4 });

/** Prints for the current user, whom nobody names to it. */
async function print(): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve));
  return `printed for ${user.get()}`;
}

const enqueue = () => queue.add(bindThreadLocalState(print));
const enqueueBare = () => queue.add(print);

const callers = Array.from({ length: 200 }, (_, index) => `user-${index}`);

/** How many of 200 callers at once get another's page. */
async function countWrong(enqueue: () => Promise<string | void>): Promise<number> {
  const pages = await Promise.all(callers.map((caller) => user.run(caller, enqueue)));
  return pages.filter((page, index) => page !== `printed for ${callers[index]}`).length;
}

const wrong = await countWrong(enqueue);
const wrongBare = await countWrong(enqueueBare);

console.log(`queue: ${wrong} of ${callers.length} jobs ran for the wrong user`);
console.log(`  (${wrongBare} where the job is not bound)`);
Deno.exitCode = wrong === 0 && wrongBare > 0 ? 0 : 1;
