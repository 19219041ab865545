import { saveThreadLocalState, ThreadLocal, ThreadLocalState } from "@thread-local/core";
import { type Chunk, parallelFor, threadLocalPool } from "@thread-local/core/workers";
import { FixedThreadPool } from "poolifier-web-worker";
import { atMost, type Case, fasterBy, nanosecondsAtMost, type Row } from "../harness/row.ts";

type Pool = FixedThreadPool<Chunk, Chunk | number>;

const CHUNK: Chunk = { begin: 0, end: 1 };

/** What a request's slots may hold. */
const PLAIN = ["user-42", 17, "admin", "req-9f3a", true];
const WITH_OBJECT = ["user-42", 17, { role: "admin", id: 3 }, "req-9f3a", true];

/** A state in which as many slots as there are values are bound. */
function bound(values: readonly unknown[]): ThreadLocalState {
  return values.reduce<ThreadLocalState>(
    (state, value, index) =>
      state.with(
        new ThreadLocal<unknown>(`bench.workers.${index}`, { shared: true, wire: true }),
        value,
      ),
    saveThreadLocalState(),
  );
}

function poolOf(size: number, worker: string): Pool {
  return new FixedThreadPool(size, new URL(`../tasks/${worker}.ts`, import.meta.url));
}

/** Measures `op` in a state with a pool whose workers are there. */
async function withPool(
  pool: Pool,
  state: ThreadLocalState,
  measure: (pool: Pool) => Promise<void>,
): Promise<void> {
  await state.run(async () => {
    await pool.mapExecute([CHUNK, CHUNK], "echo");
    await measure(pool);
  });
  await pool.destroy();
}

const trip = (values: readonly unknown[]): Case => (meter) =>
  withPool(
    threadLocalPool(poolOf(1, "adapted")),
    bound(values),
    (pool) => meter.timeAsync(() => pool.execute(CHUNK, "echo")),
  );

const rawTrip = (values: readonly unknown[]): Case => (meter) =>
  withPool(
    poolOf(1, "raw"),
    bound(values),
    (pool) => meter.timeAsync(() => pool.execute(CHUNK, "echo")),
  );

const RANGE = { begin: 0, end: 800_000, grainSize: 400_000 };

const loop = (workers: number): Case => (meter) =>
  withPool(
    threadLocalPool(poolOf(workers, "adapted")),
    bound(PLAIN),
    (pool) =>
      meter.timeAsync(() => parallelFor({ ...RANGE, concurrency: workers }, "compute", pool)),
  );

/** The same two halves, on two workers that are told what to do by hand. */
const byHand: Case = async (meter) => {
  const url = new URL("../tasks/bare.ts", import.meta.url);
  const workers = [0, 1].map(() => new Worker(url, { type: "module" }));
  const compute = (worker: Worker, chunk: Chunk) =>
    new Promise<number>((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(chunk);
    });
  const half = RANGE.grainSize;
  await meter.timeAsync(() =>
    Promise.all(
      workers.map((worker, index) =>
        compute(worker, { begin: index * half, end: (index + 1) * half })
      ),
    )
  );
  workers.forEach((worker) => worker.terminate());
};

const wire: Case = (meter) => {
  const state = bound(Array.from({ length: 16 }, (_, index) => WITH_OBJECT[index % 5]));
  meter.time(() => ThreadLocalState.fromWire(state.toWire()));
};

/** The lines of the table for what goes to another isolate. */
export const rows: readonly Row[] = [
  { what: "toWire() and fromWire(), 16 slots", ours: wire, limit: nanosecondsAtMost(10_000) },
  {
    what: "a pool round trip, 5 slots / the pool's own",
    ours: trip(PLAIN),
    raw: rawTrip(PLAIN),
    limit: atMost(1.15),
  },
  {
    what: "the same, one of them an object / the pool's own",
    ours: trip(WITH_OBJECT),
    raw: rawTrip(WITH_OBJECT),
    limit: atMost(1.15),
  },
  {
    what: "parallelFor() on 2 workers / on 1",
    ours: loop(2),
    raw: loop(1),
    limit: fasterBy(1.7),
  },
  {
    what: "parallelFor() on 2 workers / two workers told by hand",
    ours: loop(2),
    raw: byHand,
    limit: atMost(1.2),
  },
];
