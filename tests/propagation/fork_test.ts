import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import {
  fork,
  type MisuseReport,
  onMisuse,
  saveThreadLocalState,
  ThreadLocal,
} from "@thread-local/core";
import { currentFrame, GUARD, ownerOf, THREAD } from "../../registry/frame.ts";
import type { Thread } from "../../registry/thread.ts";
import { flows, starts } from "./_starts.ts";

const user = new ThreadLocal("fork_test.user", { initial: "nobody" });
const secret = new ThreadLocal("fork_test.secret", { initial: "none", inherit: false });
const tags = new ThreadLocal<string[]>("fork_test.tags", {
  initial: [],
  fork: (tags) => [...tags],
});

const thread = () => currentFrame()[THREAD] as Thread;
const turn = () => new Promise<void>((resolve) => setTimeout(resolve));

for (const [start, begin] of Object.entries(starts)) {
  for (const [flow, go] of Object.entries(flows)) {
    Deno.test(`fork() starts with the parent's bindings, from ${start}, ${flow}`, async () => {
      await begin(async () => {
        const seen = await user.run(
          "ann",
          () => go(() => fork(() => user.get()), () => user.set("sibling")),
        );

        assertEquals(seen, "ann");
      });
    });
  }

  Deno.test(`what a fork binds is never seen by the parent, from ${start}`, async () => {
    await begin(async () => {
      const before = [...saveThreadLocalState()];

      const forked = fork(async () => {
        user.set("before the await");
        await turn();
        user.set("after the await");
        return user.get();
      });
      const between = user.get();
      const result = await forked;

      assertEquals([between, result], ["nobody", "after the await"]);
      assertEquals([...saveThreadLocalState()], before);
    });
  });

  Deno.test(`fork() is a thread of its own, whose parent is the caller's, from ${start}`, async () => {
    await begin(async () => {
      const parent = thread();

      const [child, owner, later] = await fork(async () => {
        const [child, owner] = [thread(), ownerOf(currentFrame())];
        await turn();
        return [child, owner, thread()];
      });

      assertInstanceOf(child, Object);
      assertNotEquals((child as Thread).id, parent.id);
      assertEquals((child as Thread).parentId, parent.id);
      assertStrictEquals(owner, child);
      assertStrictEquals(later, child);
      assertStrictEquals(thread(), parent);
    });
  });
}

Deno.test("a fork does not see what the parent binds after it began", async () => {
  const forked = fork(async () => {
    await turn();
    return user.get();
  });

  await user.run("parent, later", turn);

  assertEquals(await forked, "nobody");
});

Deno.test("a fork keeps what was bound by a guard that ends first", async () => {
  let forked: Promise<string>;
  {
    using _ = user.with("ann");
    forked = fork(async () => {
      await turn();
      return user.get();
    });
  }

  assertEquals(user.get(), "nobody");
  assertEquals(await forked, "ann");
});

Deno.test("a fork of a bound slot with inherit: false starts with it unbound", async () => {
  const seen = await secret.run("key", () => fork(() => [secret.isBound(), secret.get()]));

  assertEquals(seen, [false, "none"]);
});

Deno.test("a fork gets the copy that the slot's fork option makes", async () => {
  await tags.run(["parent"], async () => {
    const seen = await fork(() => {
      tags.get().push("child");
      return tags.get();
    });

    assertEquals(seen, ["parent", "child"]);
    assertEquals(tags.get(), ["parent"]);
  });
});

Deno.test("concurrent forks of one mutable value do not share it", async () => {
  const seen = await tags.run(
    ["parent"],
    () =>
      Promise.all(["a", "b", "c"].map((name) =>
        fork(async () => {
          tags.get().push(name);
          await turn();
          return tags.get();
        })
      )),
  );

  assertEquals(seen, [["parent", "a"], ["parent", "b"], ["parent", "c"]]);
});

Deno.test("a slot's fork option is not called where the slot is unbound", async () => {
  let calls = 0;
  const counted = new ThreadLocal<number>("fork_test.counted", {
    initial: 0,
    fork: (value) => (calls++, value),
  });

  const unbound = await fork(() => counted.isBound());
  const bound = await counted.run(1, () => fork(() => counted.isBound()));

  assertEquals([unbound, bound, calls], [false, true, 1]);
});

Deno.test("a slot's fork option gets a bound undefined, and may return one", async () => {
  const given: unknown[] = [];
  const maybe = new ThreadLocal<string | undefined>("fork_test.maybe", {
    initial: "initial",
    fork: (value) => void given.push(value) as undefined,
  });

  const seen = await maybe.run(undefined, () => fork(() => [maybe.isBound(), maybe.get()]));

  assertEquals([given, seen], [[undefined], [true, undefined]]);
});

Deno.test("a slot's fork option runs in the parent's state, and binds for neither thread", async () => {
  const given: string[] = [];
  const copied = new ThreadLocal<string>("fork_test.copied", {
    initial: "",
    fork: (value) => {
      given.push(user.get());
      user.set("left by the copy");
      return value;
    },
  });

  const inside = await user.run("ann", () =>
    copied.run("value", async () => {
      const forked = fork(() => user.get());
      return [user.get(), await forked];
    }));

  assertEquals([given, inside], [["ann"], ["ann", "ann"]]);
});

Deno.test("the policies of slots beyond the first places of a frame hold too", async () => {
  const many = Array.from(
    { length: 40 },
    (_, i) =>
      new ThreadLocal<number[]>(`fork_test.many.${i}`, {
        initial: [],
        ...(i % 2 === 0 ? { inherit: false } : { fork: (value: number[]) => [...value, i] }),
      }),
  );

  const seen = await many.reduceRight<() => Promise<number[][]>>(
    (inner, slot) => () => slot.run([-1], inner),
    () => fork(() => many.map((slot) => slot.get())),
  )();

  assertEquals(seen, many.map((_, i) => i % 2 === 0 ? [] : [-1, i]));
});

Deno.test("a fork option that throws rejects the fork, names the key, and calls nothing", async () => {
  let fails = true;
  let called = false;
  const failing = new ThreadLocal<string>("fork_test.failing", {
    initial: "",
    fork: (value) => {
      if (fails) throw new RangeError("of the copy");
      return value;
    },
  });

  await failing.run("value", async () => {
    const error = await assertRejects(() => fork(() => (called = true)), Error);
    fails = false;
    const again = await fork(() => failing.get());

    assertStringIncludes(error.message, `"fork_test.failing"`);
    assertInstanceOf(error.cause, RangeError);
    assertEquals([called, again], [false, "value"]);
  });
});

Deno.test("fork() rejects with what its function throws, and throws nothing itself", async () => {
  const error = new RangeError("of the function");

  const forked = user.run("ann", () =>
    fork(() => {
      throw error;
    }));

  assertStrictEquals(await assertRejects(() => forked), error);
});

Deno.test("fork() rejects with what its async function rejects with", async () => {
  await assertRejects(
    () => fork(() => Promise.reject(new RangeError("of the function"))),
    RangeError,
  );
});

Deno.test("fork() starts synchronously, and passes its arguments", async () => {
  const order: string[] = [];

  const forked = fork(
    (a: number, b: string) => (order.push("fork"), `${a}${b}`),
    { name: "job" },
    1,
    "x",
  );
  order.push("parent");

  assertEquals([await forked, order], ["1x", ["fork", "parent"]]);
});

Deno.test("fork() awaits a thenable in the thread", async () => {
  const lazy = {
    then(resolve: (value: string) => void) {
      resolve(`${thread().name} ${user.get()}`);
    },
  };

  const seen = await user.run(
    "ann",
    () => fork(() => lazy as PromiseLike<string>, { name: "job" }),
  );

  assertEquals(seen, "job ann");
});

Deno.test("a fork is called by its name option, its function's name, or fork", async () => {
  function work() {
    return thread().name;
  }

  const names = [
    await fork(work, { name: "given" }),
    await fork(work),
    await fork(work, {}),
    await fork((() => () => thread().name)()),
  ];

  assertEquals(names, ["given", "work", "work", "fork"]);
});

Deno.test("fork() within a fork has the fork as its parent, and its bindings", async () => {
  const [outer, inner, seen] = await user.run("ann", () =>
    fork(async () => {
      user.set("outer");
      const outer = thread();
      const [inner, seen] = await fork(async () => {
        await turn();
        const before = user.get();
        user.set("inner");
        return [thread(), before] as const;
      });
      return [outer, inner, [seen, user.get()]] as const;
    }));

  assertEquals(inner.parentId, outer.id);
  assertEquals(seen, ["outer", "outer"]);
});

Deno.test("the ids of forks are all different, and never those of before", async () => {
  const ids = await Promise.all(Array.from({ length: 1_000 }, () => fork(() => thread().id)));

  assertEquals(new Set([...ids, thread().id]).size, 1_001);
  assert(ids.every((id, i) => i === 0 || id > ids[i - 1]));
});

Deno.test("1,000 concurrent forks never see each other's bindings", async () => {
  const seen = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) =>
      fork(async () => {
        const reads = [];
        user.set(`user ${i}`);
        for (let round = 0; round < 3; round++) {
          await turn();
          reads.push(user.get());
          user.set(`user ${i} round ${round}`);
        }
        return reads;
      })),
  );

  assertEquals(user.get(), "nobody");
  assertEquals(
    seen,
    Array.from({ length: 1_000 }, (_, i) => [
      `user ${i}`,
      `user ${i} round 0`,
      `user ${i} round 1`,
    ]),
  );
});

Deno.test("a fork is inside no guard of its parent", async () => {
  using _ = await user.enter("ann");

  const guard = await fork(() => currentFrame()[GUARD]);

  assertEquals(guard, undefined);
});

Deno.test("a guard of the parent that is closed in a fork changes nothing there", async () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  const guard = await user.enter("ann");
  const close = guard[Symbol.dispose];

  const seen = await fork(() => {
    close.call(guard);
    return user.get();
  });

  assertEquals(seen, "ann");
  assertEquals(reports.map(({ kind }) => kind), ["guard-elsewhere"]);
});

Deno.test("a guard that a fork leaves open is reported", async () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));

  await fork(() => void user.with("left open")[Symbol.dispose]);

  assertEquals(reports.map(({ kind, key }) => [kind, key]), [["guard-left-open", user.key]]);
  assertEquals(user.get(), "nobody");
});

Deno.test("fork() rejects bad arguments, and throws nothing", async () => {
  await assertRejects(() => fork("text" as never), TypeError, "expected a function");
  await assertRejects(() => fork(turn, 1 as never), TypeError, "options must be an object");
  await assertRejects(() => fork(turn, null as never), TypeError, "options must be an object");
  await assertRejects(() => fork(turn, { name: 1 as never }), TypeError, "name must be a string");
});

Deno.test("fork() has the types of its function", async () => {
  const fromPromise = fork(async (n: number) => await Promise.resolve(`${n}`), {}, 1);
  const fromValue = fork(() => 1);

  assertType<IsExact<typeof fromPromise, Promise<string>>>(true);
  assertType<IsExact<typeof fromValue, Promise<number>>>(true);
  // @ts-expect-error -- the argument is missing.
  await fork((n: number) => n);
  // @ts-expect-error -- text is no number.
  await fork((n: number) => n, {}, "text");
  await Promise.all([fromPromise, fromValue]);
});
