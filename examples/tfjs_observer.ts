/**
 * Which user does the time of my operators go to, when the operators know of no user?
 *
 * Twenty users ask a TensorFlow.js model at once. The user's name is put into the debug info at the
 * top of each request; an observer of the kernels finds it there, across awaits, a fork for each
 * request, a parallel loop, and in the workers of a pool. The check needs no context: what a kernel
 * computes from a user's data is that user's.
 *
 * `--trace out.json` writes what ran as Chrome trace events, for Perfetto or chrome://tracing.
 */
import { fork, parallelFor } from "@thread-local/core";
import { DebugInfoGuard } from "@thread-local/core/guards";
import { addGlobalObserver, removeObserver } from "@thread-local/core/observers";
import { threadLocalPool } from "@thread-local/core/workers";
import { FixedThreadPool } from "poolifier-web-worker";
import { type Booking, BookingObserver, USER } from "./tfjs_observer/bookings.ts";
import { recordKernels } from "./tfjs_observer/kernels.ts";
import { FEATURES, predict } from "./tfjs_observer/model.ts";
import { traceOf } from "./tfjs_observer/trace.ts";
import type { Answer, Job } from "./tfjs_observer/worker.ts";

const USERS = Array.from({ length: 20 }, (_, index) => `user-${index + 1}`);
const PREDICTIONS = 6;
const WORKERS = 2;

const traceFile = Deno.args[0] === "--trace" ? Deno.args[1] : undefined;

await recordKernels();
const observer = new BookingObserver();
const handle = addGlobalObserver(observer);
const pool = threadLocalPool(
  new FixedThreadPool<Job, Answer>(
    WORKERS,
    new URL("./tfjs_observer/worker.ts", import.meta.url),
  ),
);

/** What the way without a library would say: the last request that came. */
let lastUser = "";
let wrongByVariable = 0;
const variable = addGlobalObserver({
  start: () => lastUser,
  end(_, last) {
    const { owner } = observer.bookings.at(-1)!;
    if (owner !== undefined && owner !== last) wrongByVariable++;
  },
  scopes: ["kernel-function"],
});

const bookingsOfWorkers: Booking[] = [];

async function predictOnWorker(owner: string, features: readonly number[]): Promise<number[]> {
  const { kinds, bookings } = await pool.execute({ owner, features }, "predict");
  bookingsOfWorkers.push(...bookings);
  return kinds;
}

/** One request: predictions in a parallel loop, every other one on a worker. */
async function serve(user: string): Promise<void> {
  using _ = await DebugInfoGuard.enter(USER, user);
  lastUser = user;
  await parallelFor({ begin: 0, end: PREDICTIONS, grainSize: 1, concurrency: 2 }, async (index) => {
    const features = Array.from({ length: FEATURES }, (_, at) => (at + index) / FEATURES);
    const kinds = await (index % 2 === 0 ? predict : predictOnWorker)(user, features);
    if (Math.abs(kinds.reduce((sum, kind) => sum + kind) - 1) > 1e-6) {
      throw new Error(`${kinds} are no probabilities`);
    }
  });
}

await Promise.all(USERS.map((user) => fork(serve, { name: user }, user)));

await Promise.all([pool.destroy(), removeObserver(handle), removeObserver(variable)]);
const bookings = [...observer.bookings, ...bookingsOfWorkers];

for (const user of USERS) {
  const own = bookings.filter((booking) => booking.user === user);
  const operators = [...Map.groupBy(own, ({ name }) => name)].map(([name, calls]) => ({
    name,
    calls: calls.length,
    time: calls.reduce((sum, { duration }) => sum + duration, 0),
  })).sort((a, b) => b.time - a.time);
  const time = operators.reduce((sum, operator) => sum + operator.time, 0);
  console.log(
    `${user.padEnd(8)} ${own.length} operators in ${time.toFixed(2)} ms: ` +
      operators.map(({ name, calls, time }) => `${name} ${calls} × ${(time / calls).toFixed(3)} ms`)
        .join(", "),
  );
}

// Not all of them work on a user's data, but all run for one.
const wrong =
  bookings.filter(({ user, owner }) => user === null || user !== (owner ?? user)).length;
const onWorkers = bookings.filter(({ threadId }) => threadId >> 48n !== 0n).length;
const known = bookings.filter(({ owner }) => owner !== undefined).length;
console.log(
  `tfjs_observer: ${wrong} of ${bookings.length} operators were booked to the wrong user or none; ` +
    `${known} are known by their data, ${onWorkers} ran on workers`,
);
console.log(`  (${wrongByVariable} of those that ran here where a module variable says who it is)`);
if (traceFile !== undefined) {
  await Deno.writeTextFile(traceFile, JSON.stringify(traceOf(bookings)));
  console.log(`  trace: ${traceFile}`);
}
Deno.exitCode = wrong === 0 && known > 0 && onWorkers > 0 ? 0 : 1;
