import { assertEquals } from "@std/assert";
import { bindThreadLocalState, detached, fork, parallelFor } from "@thread-local/core";
import { DebugInfoGuard, ThreadLocalDebugInfo } from "@thread-local/core/guards";
import { Node } from "@thread-local/core/rank-local";
import { threadLocalPool } from "@thread-local/core/workers";
import { FixedThreadPool } from "poolifier-web-worker";
import { Bookings, operator, STEP, USER } from "./_user.ts";

const nextTurn = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("a user id set at the top reaches an operator observer across awaits and timers", async () => {
  using bookings = new Bookings();
  const serve = async (user: string) => {
    using _ = await DebugInfoGuard.enter(USER, user);
    operator("a");
    await nextTurn();
    operator("b");
  };

  await Promise.all([serve("ann"), serve("bob")]);
  operator("after");

  assertEquals(bookings.lines.sort(), ["a: ann", "a: bob", "after: null", "b: ann", "b: bob"]);
});

Deno.test("a fork made inside a debug info guard sees it after the guard has ended", async () => {
  using bookings = new Bookings();
  const gate = Promise.withResolvers<void>();
  let forked: Promise<void>;
  {
    using _ = new DebugInfoGuard(USER, "ann");
    forked = fork(async () => {
      await gate.promise;
      operator("forked");
    });
  }

  assertEquals(ThreadLocalDebugInfo.get(USER), null);
  gate.resolve();
  await forked;

  assertEquals(bookings.lines, ["forked: ann"]);
});

Deno.test("nested kinds of debug info are both visible, in a fork too", async () => {
  using bookings = new Bookings();

  await DebugInfoGuard.run(USER, "ann", async () => {
    using _ = await DebugInfoGuard.enter(STEP, 1);
    operator("here");
    await fork(async () => {
      await nextTurn();
      operator("forked");
    });
  });

  assertEquals(bookings.lines, ["here: ann at 1", "forked: ann at 1"]);
});

for (const size of [1, 2, 1_000]) {
  Deno.test(`a user id reaches an operator observer in a parallel loop of ${size}`, async () => {
    using bookings = new Bookings();

    await DebugInfoGuard.run(
      USER,
      "ann",
      () =>
        parallelFor({ begin: 0, end: size, grainSize: 100 }, async (begin) => {
          await nextTurn();
          operator(`chunk ${begin}`);
        }),
    );

    assertEquals(bookings.lines.length, Math.ceil(size / 100));
    assertEquals(bookings.lines.every((line) => line.endsWith(": ann")), true);
  });
}

Deno.test("a bound callback sees the debug info, completed inline and from another flow", async () => {
  using bookings = new Bookings();
  const callback = DebugInfoGuard.run(USER, "ann", () => bindThreadLocalState(operator));

  callback("inline");
  await DebugInfoGuard.run(USER, "bob", async () => {
    await nextTurn();
    callback("from bob's flow");
  });
  await detached(async () => {
    await nextTurn();
    callback("from no flow");
  });

  assertEquals(bookings.lines, ["inline: ann", "from bob's flow: ann", "from no flow: ann"]);
});

Deno.test("an observer during backward sees the debug info of the forward caller", async () => {
  using bookings = new Bookings();
  const node = await fork(() => DebugInfoGuard.run(USER, "ann", () => new Node("mul", operator)));

  await DebugInfoGuard.run(USER, "engine", async () => {
    await nextTurn();
    node.evaluate("backward");
    operator("of the engine");
  });

  assertEquals(bookings.lines, ["backward: ann", "of the engine: engine"]);
});

Deno.test("a user id reaches an operator observer in a worker", async () => {
  const pool = threadLocalPool(
    new FixedThreadPool<undefined, string[]>(1, new URL("./_tasks.ts", import.meta.url)),
  );
  try {
    const booked = await Promise.all(["ann", "bob"].map((user) =>
      DebugInfoGuard.run(
        USER,
        user,
        () => DebugInfoGuard.run(STEP, 1, () => pool.execute(undefined, "book")),
      )
    ));
    const without = await pool.execute(undefined, "book");

    // An observer of the worker sees its other tasks too.
    assertEquals(booked.map((lines, at) => lines.filter((l) => l.includes(["ann", "bob"][at]))), [
      ["first: ann at 1", "second: ann at 1"],
      ["first: bob at 1", "second: bob at 1"],
    ]);
    assertEquals(without, ["first: null", "second: null"]);
  } finally {
    await pool.destroy();
  }
});
