import { parallelFor, threadLocalPool } from "@thread-local/core/workers";
import { assertEquals, assertRejects } from "@std/assert";
import { FixedThreadPool } from "poolifier-web-worker";
import { user, visits } from "./_slots.ts";
import type { Request } from "./_tasks.ts";

/** Runs `use` with a pool of two that is not adapted, and ends its workers. */
async function withPool(
  use: (pool: FixedThreadPool<Request, unknown>) => Promise<void>,
): Promise<void> {
  const url = new URL("./_tasks.ts", import.meta.url);
  const pool = new FixedThreadPool<Request, unknown>(2, url);
  try {
    await use(pool);
  } finally {
    await pool.destroy();
  }
}

Deno.test("parallelFor() on a pool runs every chunk in the caller's state, in order", async () => {
  await withPool(async (pool) => {
    const range = { begin: 0, end: 5, grainSize: 2, concurrency: 1 };

    const results = await user.run("ann", async () => {
      const loop = parallelFor(range, "chunk", pool);
      visits.set(9);
      return await loop;
    });

    const state = "ann/unbound";
    assertEquals(results, [[0, 2, state], [2, 4, state], [4, 5, state]]);
  });
});

Deno.test("parallelFor() on a pool has a chunk for each worker by default", async () => {
  await withPool(async (pool) => {
    const chunks = await parallelFor({ begin: 0, end: 10 }, "chunk", threadLocalPool(pool));

    assertEquals(chunks.length, 2);
  });
});

Deno.test("parallelFor() on a pool runs one chunk in the caller's state too, and none for none", async () => {
  await withPool(async (pool) => {
    const one = user.run("ann", () => parallelFor({ begin: 0, end: 1 }, "chunk", pool));

    assertEquals(await one, [[0, 1, "ann/unbound"]]);
    assertEquals(await parallelFor({ begin: 3, end: 3 }, "close", pool), []);
  });
});

Deno.test("parallelFor() on a pool rejects with the first error and starts no more", async () => {
  await withPool(async (pool) => {
    await assertRejects(
      () => parallelFor({ begin: 0, end: 100, grainSize: 1, concurrency: 1 }, "failAt", pool),
      RangeError,
      "chunk 2",
    );
    assertEquals(pool.info.executedTasks, 2);
  });
});

Deno.test("parallelFor() on a pool rejects when a worker ends", async () => {
  await withPool(async (pool) => {
    await assertRejects(() => parallelFor({ begin: 0, end: 2 }, "close", pool), Error, "ended");
  });
});

Deno.test("parallelFor() on a pool rejects at an abort", async () => {
  await withPool(async (pool) => {
    const signal = AbortSignal.abort(new Error("enough"));

    const loop = parallelFor({ begin: 0, end: 2, signal }, "chunk", pool);

    await assertRejects(() => loop, Error, "enough");
  });
});

Deno.test("parallelFor() on a pool refuses a bad range, a function, and what is no pool", async () => {
  await withPool(async (pool) => {
    await assertRejects(() => parallelFor({ begin: 2, end: 1 }, "chunk", pool), RangeError);
    const body = (() => 1) as unknown as string;
    await assertRejects(() => parallelFor({ begin: 0, end: 1 }, body, pool), TypeError, "name");
    const none = {} as unknown as typeof pool;
    await assertRejects(() => parallelFor({ begin: 0, end: 1 }, "chunk", none), TypeError, "pool");
  });
});

Deno.test("parallelFor() without a pool is the one of this isolate", async () => {
  const seen = await user.run(
    "ann",
    () => parallelFor({ begin: 0, end: 2, grainSize: 1 }, (begin, end) => [begin, end, user.get()]),
  );

  assertEquals(seen, [[0, 1, "ann"], [1, 2, "ann"]]);
});
