import {
  assert,
  assertEquals,
  assertFalse,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { saveThreadLocalState, ThreadLocal } from "@thread-local/core/registry";
import { inTurnOfItsOwn, nextTurn, testEverywhere } from "../fixtures/everywhere.ts";

// Bind

testEverywhere("ThreadLocal.run() binds for fn and brings the previous frame back", (at) => {
  const { slot, before, bound, value } = at;
  const outside = () => {
    assertEquals(slot.get(), before);
    assertEquals(slot.isBound(), bound);
  };

  const done = slot.run(value, at.flow, function* () {
    assertEquals(slot.get(), value);
    yield;
    assertEquals(slot.get(), value);
    assert(slot.isBound());
  });

  outside();
  return done?.then(outside);
});

testEverywhere("ThreadLocal.run() brings the previous frame back when fn throws", async (at) => {
  const { slot, before, value } = at;
  const failure = new Error("thrown inside");

  const caught = assertThrows(() =>
    slot.run(value, () => {
      throw failure;
    })
  );
  assertStrictEquals(caught, failure);
  assertEquals(slot.get(), before);

  const rejected = slot.run(value, async () => {
    await at.flow(function* () {
      yield;
      throw failure;
    });
  });
  assertEquals(slot.get(), before);
  assertStrictEquals(await assertRejects(() => rejected), failure);
  assertEquals(slot.get(), before);
});

testEverywhere("ThreadLocal.run() confines what fn sets", (at) => {
  const { slot, before, value } = at;

  const done = slot.run(value, at.flow, function* () {
    slot.set(`${value} again`);
    yield;
    assertEquals(slot.get(), `${value} again`);
    slot.clear();
    assertEquals(slot.get(), "initial");
  });

  assertEquals(slot.get(), before);
  return done?.then(() => assertEquals(slot.get(), before));
});

testEverywhere("ThreadLocal.set() binds from here on in this flow", (at) => {
  const { slot, before, value } = at;

  return at.flow(function* () {
    assertEquals(slot.get(), before);
    slot.set(value);
    assertEquals(slot.get(), value);
    yield;
    assertEquals(slot.get(), value);
    slot.set(`${value} again`);
    yield;
    assertEquals(slot.get(), `${value} again`);
  });
});

testEverywhere("ThreadLocal.clear() unbinds from here on in this flow", (at) => {
  const { slot, value } = at;

  return at.flow(function* () {
    slot.clear();
    yield;
    assertFalse(slot.isBound());
    assertEquals(slot.get(), "initial");
    slot.set(value);
    yield;
    slot.clear();
    yield;
    assertFalse(slot.isBound());
  });
});

Deno.test("ThreadLocal.run() passes arguments, no this, and returns what fn returns", () => {
  const slot = new ThreadLocal("thread_local_test.run arguments", { initial: 0 });
  const result = {};

  const got = slot.run(
    1,
    function (this: unknown, ...args: [string, number, undefined]) {
      return { this: this, args, result };
    },
    "a",
    2,
    undefined,
  );

  assertEquals(got, { this: undefined, args: ["a", 2, undefined], result });
  assertStrictEquals(got.result, result);
});

for (const [name, fn] of [["undefined", undefined], ["an object", {}], ["null", null]] as const) {
  Deno.test(`ThreadLocal.run() rejects ${name} in place of fn, naming the key`, () => {
    const slot = new ThreadLocal(`thread_local_test.run ${name}`, { initial: 0 });

    assertThrows(() => slot.run(1, fn as never), TypeError, slot.key);

    assertFalse(slot.isBound());
  });
}

Deno.test("ThreadLocal.run() keeps its binding for work begun inside, whatever happens outside", async () => {
  const slot = new ThreadLocal("thread_local_test.for ever", { initial: "initial" });
  let go = () => {};
  const gate = new Promise<void>((resolve) => go = resolve);
  const seen = inTurnOfItsOwn(() => {
    const seen = slot.run("inside", () =>
      Promise.all([
        gate.then(() => slot.get()),
        (async () => {
          await gate;
          return slot.get();
        })(),
        new Promise((resolve) => setTimeout(() => resolve(slot.get()))),
        new Promise((resolve) => queueMicrotask(() => resolve(slot.get()))),
      ]));
    slot.set("outside");
    slot.clear();
    return seen;
  });
  await nextTurn();

  slot.run("elsewhere", go);

  assertEquals(await seen, ["inside", "inside", "inside", "inside"]);
});

Deno.test("ThreadLocal.run() nests: the innermost binding is read, the outer ones come back", () => {
  const slot = new ThreadLocal("thread_local_test.nested", { initial: 0 });
  const seen: number[] = [];

  const nest = (depth: number): void => {
    seen.push(slot.get());
    if (depth < 100) slot.run(depth + 1, nest, depth + 1);
    seen.push(slot.get());
  };
  nest(0);

  const up = Array.from({ length: 101 }, (_, i) => i);
  assertEquals(seen, [...up, ...up.toReversed()]);
});

Deno.test("ThreadLocal.run() leaves the other slots bound", () => {
  const one = new ThreadLocal("thread_local_test.other 1", { initial: 0 });
  const two = new ThreadLocal("thread_local_test.other 2", { initial: 0 });

  one.run(1, () => two.run(2, () => assertEquals([one.get(), two.get()], [1, 2])));

  assertEquals([one.get(), two.get()], [0, 0]);
});

for (
  const value of [undefined, null, 0, NaN, "", false, Symbol.for("x"), {}, () => {}, new Error()]
) {
  Deno.test(`ThreadLocal binds ${String(value)} as a value`, () => {
    const slot = new ThreadLocal<unknown>(`thread_local_test.value ${String(value)}`, {
      initial: "initial",
    });

    slot.run(value, () => {
      assertStrictEquals(slot.get(), value);
      assert(slot.isBound());
      assert(saveThreadLocalState().has(slot));
    });
  });
}

Deno.test("ThreadLocal binds its own initial value as a binding", () => {
  const slot = new ThreadLocal("thread_local_test.same as initial", { initial: 0 });

  assert(slot.run(0, () => slot.isBound()));
});

Deno.test("ThreadLocal.set() of undefined is a binding, not a clear()", async () => {
  const slot = new ThreadLocal<string | undefined>("thread_local_test.set undefined", {
    initial: "initial",
  });

  await inTurnOfItsOwn(() => {
    slot.set(undefined);
    assert(slot.isBound());
    assertEquals(slot.get(), undefined);
  });
});

Deno.test("ThreadLocal declared while other slots are bound is unbound", () => {
  const early = new ThreadLocal("thread_local_test.early", { initial: 0 });

  early.run(1, () => {
    const late = new ThreadLocal("thread_local_test.late", { initial: "initial" });

    assertFalse(late.isBound());
    assertEquals(late.run("late", () => [early.get(), late.get()]), [1, "late"]);
    assertEquals([early.get(), late.get()], [1, "initial"]);
  });
});

Deno.test("ThreadLocal.enter() gives a guard that has bound nothing yet", async () => {
  const slot = new ThreadLocal("thread_local_test.enter", { initial: 0 });

  const guard = await slot.enter(1);

  assertFalse(slot.isBound());
  assertNotStrictEquals(guard, await slot.enter(1));
});
