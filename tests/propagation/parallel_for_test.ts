import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { parallelFor, type ParallelRange, ThreadLocal } from "@thread-local/core";
import { currentFrame, THREAD } from "../../registry/frame.ts";
import type { Thread } from "../../registry/thread.ts";
import { flows, starts } from "./_starts.ts";

const gradEnabled = new ThreadLocal("parallel_for_test.gradEnabled", { initial: true });
const tags = new ThreadLocal<string[]>("parallel_for_test.tags", {
  initial: [],
  fork: (tags) => [...tags],
});

const thread = () => currentFrame()[THREAD] as Thread;
const turn = () => new Promise<void>((resolve) => setTimeout(resolve));
const pair = (begin: number, end: number) => [begin, end];

for (const [start, begin] of Object.entries(starts)) {
  for (const [flow, go] of Object.entries(flows)) {
    for (const size of [1, 2, 7, 100]) {
      Deno.test(`parallelFor() keeps grad mode for ${size} indexes, from ${start}, ${flow}`, async () => {
        await begin(async () => {
          const seen = await gradEnabled.run(
            false,
            () =>
              go(
                () =>
                  parallelFor({ begin: 0, end: size, grainSize: 3, concurrency: 2 }, async () => {
                    const first = gradEnabled.get();
                    await Promise.resolve();
                    return [first, gradEnabled.get()];
                  }),
                () => gradEnabled.set(true),
              ),
          );

          assertEquals(seen, Array(Math.ceil(size / 3)).fill([false, false]));
          assertEquals(gradEnabled.get(), true);
        });
      });
    }
  }
}

Deno.test("parallelFor() covers the range in chunks of the grain size, results in order", async () => {
  const chunks = await parallelFor({ begin: -3, end: 7, grainSize: 4 }, async (begin, end) => {
    if (begin < 0) await turn();
    return [begin, end];
  });

  assertEquals(chunks, [[-3, 1], [1, 5], [5, 7]]);
});

Deno.test("parallelFor() divides the range by its concurrency where no grain size is given", async () => {
  const byDefault = await parallelFor({ begin: 0, end: 80 }, pair);
  const byThree = await parallelFor({ begin: 0, end: 10, concurrency: 3 }, pair);
  const small = await parallelFor({ begin: 0, end: 2 }, pair);

  assertEquals(byDefault.length, 8);
  assertEquals(byThree, [[0, 4], [4, 8], [8, 10]]);
  assertEquals(small, [[0, 1], [1, 2]]);
});

Deno.test("parallelFor() takes Infinity for a single chunk, and for all chunks at once", async () => {
  let open = 0;
  let most = 0;

  const single = await parallelFor({ begin: 0, end: 100, grainSize: Infinity }, pair);
  await parallelFor({ begin: 0, end: 20, concurrency: Infinity }, async () => {
    most = Math.max(most, ++open);
    await turn();
    open--;
  });

  assertEquals(single, [[0, 100]]);
  assertEquals(most, 20);
});

Deno.test("parallelFor() reaches both ends of the safe integers", async () => {
  const { MAX_SAFE_INTEGER: max, MIN_SAFE_INTEGER: min } = Number;

  assertEquals(await parallelFor({ begin: max - 3, end: max, grainSize: 2 }, pair), [
    [max - 3, max - 1],
    [max - 1, max],
  ]);
  assertEquals(await parallelFor({ begin: min, end: max, concurrency: 1 }, pair), [[min, max]]);
});

Deno.test("parallelFor() runs at most concurrency chunks at once, and that many", async () => {
  let open = 0;
  const counts: number[] = [];

  await parallelFor({ begin: 0, end: 20, grainSize: 1, concurrency: 3 }, async () => {
    counts.push(++open);
    await turn();
    open--;
  });

  assertEquals(Math.max(...counts), 3);
  assertEquals(counts.length, 20);
});

Deno.test("each chunk of parallelFor() is a thread of its own, whose parent is the caller's", async () => {
  const parent = thread();

  const threads = await parallelFor({ begin: 0, end: 10, grainSize: 1, concurrency: 2 }, thread);

  assertEquals(new Set(threads.map(({ id }) => id)).size, 10);
  assert(threads.every(({ parentId }) => parentId === parent.id));
});

Deno.test("a single chunk of parallelFor() is a thread of its own too", async () => {
  const [only] = await parallelFor({ begin: 0, end: 1 }, thread);

  assertNotEquals(only.id, thread().id);
});

Deno.test("what a chunk binds is seen by no other chunk, nor by the caller", async () => {
  const seen = await parallelFor(
    { begin: 0, end: 6, grainSize: 1, concurrency: 2 },
    async (begin) => {
      const before = gradEnabled.get();
      if (begin % 2 === 0) gradEnabled.set(false);
      await turn();
      return [before, gradEnabled.get()];
    },
  );

  assertEquals(seen.map(([before]) => before), Array(6).fill(true));
  assertEquals(seen.map(([, after]) => after), [false, true, false, true, false, true]);
  assertEquals(gradEnabled.get(), true);
});

Deno.test("each chunk has its own copy of a slot with a fork option", async () => {
  const seen = await tags.run(
    ["caller"],
    () =>
      parallelFor({ begin: 0, end: 3, grainSize: 1, concurrency: 2 }, async (begin) => {
        tags.get().push(`${begin}`);
        await turn();
        return tags.get();
      }),
  );

  assertEquals(seen, [["caller", "0"], ["caller", "1"], ["caller", "2"]]);
});

Deno.test("chunks that start later see what the caller had bound at the call", async () => {
  const seen = await gradEnabled.run(true, async () => {
    const loop = parallelFor(
      { begin: 0, end: 4, grainSize: 1, concurrency: 1 },
      async () => (await turn(), gradEnabled.get()),
    );
    gradEnabled.set(false);
    return await loop;
  });

  assertEquals(seen, [true, true, true, true]);
});

Deno.test("parallelFor() within parallelFor() has the chunk's state", async () => {
  const seen = await parallelFor({ begin: 0, end: 2, grainSize: 1 }, async (outer) => {
    gradEnabled.set(outer === 0);
    await turn();
    return await parallelFor(
      { begin: 0, end: 2, grainSize: 1, concurrency: 1 },
      async (inner) => (await turn(), [outer, inner, gradEnabled.get()]),
    );
  });

  assertEquals(seen, [[[0, 0, true], [0, 1, true]], [[1, 0, false], [1, 1, false]]]);
});

Deno.test("after a chunk fails no other starts, those that run are awaited, and the error comes", async () => {
  const error = new RangeError("of the chunk");
  const started: number[] = [];
  const ended: number[] = [];

  const caught = await assertRejects(() =>
    parallelFor({ begin: 0, end: 10, grainSize: 1, concurrency: 3 }, async (begin) => {
      started.push(begin);
      await turn();
      if (begin === 0) throw error;
      await turn();
      ended.push(begin);
    })
  );

  assertStrictEquals(caught, error);
  assertEquals([started, ended], [[0, 1, 2], [1, 2]]);
});

Deno.test("of several chunks that fail, the error is that of the first to fail", async () => {
  await assertRejects(
    () =>
      parallelFor({ begin: 0, end: 2, grainSize: 1 }, async (begin) => {
        if (begin === 0) await turn();
        throw new Error(`of chunk ${begin}`);
      }),
    Error,
    "of chunk 1",
  );
});

Deno.test("a chunk that throws synchronously, undefined even, rejects the loop", async () => {
  const caught = await parallelFor({ begin: 0, end: 1 }, () => {
    throw undefined;
  }).then(() => "resolved", (error) => [error]);

  assertEquals(caught, [undefined]);
});

Deno.test("a slot whose fork option throws rejects the loop", async () => {
  const failing = new ThreadLocal<string>("parallel_for_test.failing", {
    initial: "",
    fork: () => {
      throw new Error("of the copy");
    },
  });

  await failing.run("value", () =>
    assertRejects(
      () => parallelFor({ begin: 0, end: 2 }, () => {}),
      Error,
      `"parallel_for_test.failing"`,
    ));
});

Deno.test("after an abort no chunk starts, those that run are awaited, and the reason comes", async () => {
  const controller = new AbortController();
  const reason = new Error("of the abort");
  const started: number[] = [];
  const ended: number[] = [];

  const caught = await assertRejects(() =>
    parallelFor(
      { begin: 0, end: 10, grainSize: 1, concurrency: 2, signal: controller.signal },
      async (begin) => {
        started.push(begin);
        await turn();
        if (begin === 0) controller.abort(reason);
        await turn();
        ended.push(begin);
      },
    )
  );

  assertStrictEquals(caught, reason);
  assertEquals([started, ended], [[0, 1], [0, 1]]);
});

Deno.test("an abort comes before what a chunk throws because of it", async () => {
  const controller = new AbortController();

  await assertRejects(
    () =>
      parallelFor({ begin: 0, end: 1, signal: controller.signal }, async () => {
        controller.abort(new Error("of the abort"));
        await turn();
        throw new Error("of the chunk");
      }),
    Error,
    "of the abort",
  );
});

Deno.test("an error comes before an abort that follows it", async () => {
  const controller = new AbortController();

  await assertRejects(
    () =>
      parallelFor(
        { begin: 0, end: 2, grainSize: 1, signal: controller.signal },
        async (begin) => {
          if (begin === 0) throw new Error("of the chunk");
          await turn();
          controller.abort(new Error("of the abort"));
        },
      ),
    Error,
    "of the chunk",
  );
});

Deno.test("parallelFor() with a signal that is aborted already calls nothing, an empty range too", async () => {
  const signal = AbortSignal.abort(new Error("of the abort"));
  let calls = 0;

  for (const end of [0, 10]) {
    await assertRejects(
      () => parallelFor({ begin: 0, end, signal }, () => void calls++),
      Error,
      "of the abort",
    );
  }

  assertEquals(calls, 0);
});

Deno.test("an empty range calls nothing and resolves", async () => {
  let calls = 0;

  const results = await parallelFor({ begin: 5, end: 5 }, () => calls++);

  assertEquals([results, calls], [[], 0]);
});

Deno.test("parallelFor() rejects an invalid range, and calls nothing", async () => {
  let calls = 0;
  const loop = (range: object) => () => parallelFor(range as ParallelRange, () => void calls++);
  const types = [
    [{ end: 1 }, "begin must be a number, got undefined"],
    [{ begin: 0, end: "1" }, "end must be a number, got string"],
    [{ begin: 0n, end: 1 }, "begin must be a number, got bigint"],
    [{ begin: 0, end: 1, grainSize: null }, "grainSize must be a number"],
    [{ begin: 0, end: 1, concurrency: "2" }, "concurrency must be a number"],
    [{ begin: 0, end: 1, signal: {} }, "signal must be an AbortSignal"],
    [{ begin: 0, end: 1, signal: null }, "signal must be an AbortSignal, got null"],
    [null, "expected a range"],
    [7, "expected a range"],
  ] as const;
  const ranges = [
    [{ begin: 0, end: NaN }, "end must be a safe integer, got NaN"],
    [{ begin: 0, end: Infinity }, "end must be a safe integer"],
    [{ begin: 0.5, end: 1 }, "begin must be a safe integer"],
    [{ begin: 0, end: 2 ** 53 }, "end must be a safe integer"],
    [{ begin: 1, end: 0 }, "begin (1) must not be greater than end (0)"],
    [{ begin: 0, end: 1, grainSize: 0 }, "grainSize must be an integer from 1"],
    [{ begin: 0, end: 1, grainSize: 1.5 }, "grainSize must be an integer from 1"],
    [{ begin: 0, end: 1, concurrency: 0 }, "concurrency must be an integer from 1"],
    [{ begin: 0, end: 1, concurrency: -Infinity }, "concurrency must be an integer from 1"],
  ] as const;

  for (const [range, message] of types) {
    await assertRejects(loop(range as never), TypeError, message);
  }
  for (const [range, message] of ranges) await assertRejects(loop(range), RangeError, message);
  await assertRejects(
    () => parallelFor({ begin: 0, end: 1 }, "text" as never),
    TypeError,
    "expected a function to call for each chunk",
  );

  assertEquals(calls, 0);
});

Deno.test("parallelFor() has the type of its body", async () => {
  const fromPromise = parallelFor({ begin: 0, end: 0 }, async () => await Promise.resolve(""));
  const fromValue = parallelFor({ begin: 0, end: 0 }, () => 1);

  assertType<IsExact<typeof fromPromise, Promise<string[]>>>(true);
  assertType<IsExact<typeof fromValue, Promise<number[]>>>(true);
  await Promise.all([fromPromise, fromValue]);
});
