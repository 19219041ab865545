import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  DuplicateSlotError,
  registry,
  saveThreadLocalState,
  ThreadLocal,
} from "@thread-local/core/registry";
import { inTurnOfItsOwn, nextTurn, testEverywhere } from "../fixtures/everywhere.ts";

/** What a caller without types can write. */
const Untyped = ThreadLocal as unknown as new (...args: unknown[]) => ThreadLocal<unknown>;

// Declare

for (
  const [name, key] of [
    ["an empty string", ""],
    ["a symbol", Symbol("key")],
    ["a number", 1],
    [
      "undefined",
      undefined,
    ],
    ["null", null],
    ["an object", {}],
  ] as const
) {
  Deno.test(`ThreadLocal rejects ${name} as a key and declares nothing`, () => {
    const before = registry.size;

    assertThrows(
      () => new Untyped(key, { initial: 0 }),
      TypeError,
      "key must be a non-empty string",
    );

    assertEquals(registry.size, before);
  });
}

Deno.test("ThreadLocal takes keys that are names of Object.prototype", () => {
  const slot = new ThreadLocal("__proto__", { initial: 1 });
  const other = new ThreadLocal("constructor", { initial: 2 });

  assertEquals([slot.get(), other.get()], [1, 2]);
  assertStrictEquals(registry.get("__proto__"), slot);
});

Deno.test("ThreadLocal rejects an unknown option by its name and declares nothing", () => {
  const key = "thread_local_test.unknown option";

  assertThrows(
    () => new Untyped(key, { initial: 0, shard: true }),
    TypeError,
    `"${key}": there is no option "shard"`,
  );

  assertFalse(registry.has(key));
});

for (
  const [name, options] of Object.entries({
    "null options": null,
    "options that are a function": () => 1,
    "options that are a string": "x",
    "an init that is not a function": { init: 1 },
    "initial and init together": { initial: 1, init: () => 1 },
    "an init that is undefined, without initial": { init: undefined },
    "shared that is not a boolean": { initial: 0, shared: "yes" },
    "redact that is not a boolean": { initial: 0, redact: 1 },
    "inherit that is not a boolean": { initial: 0, inherit: 0 },
    "fork that is not a function": { initial: 0, fork: true },
    "wire that is false": { initial: 0, wire: false },
    "wire that is null": { initial: 0, wire: null },
    "wire without decode": { initial: 0, wire: { encode: String } },
  })
) {
  Deno.test(`ThreadLocal rejects ${name} and declares nothing`, () => {
    const key = `thread_local_test.${name}`;

    assertThrows(() => new Untyped(key, options), TypeError, `Cannot declare "${key}": `);

    assertFalse(registry.has(key));
  });
}

Deno.test("ThreadLocal declared twice throws DuplicateSlotError with the key and both places", () => {
  const key = "thread_local_test.twice";
  const first = new ThreadLocal(key, { initial: "first" });

  const error = assertThrows(
    () => new ThreadLocal(key, { initial: "second" }),
    DuplicateSlotError,
  );

  const here = import.meta.url.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  assertEquals(error.key, key);
  assertEquals(error.name, "DuplicateSlotError");
  assertMatch(error.firstSite, new RegExp(`^${here}:\\d+:\\d+$`));
  assertMatch(error.secondSite, new RegExp(`^${here}:\\d+:\\d+$`));
  const [firstLine, secondLine] = [error.firstSite, error.secondSite].map((site) =>
    Number(site.split(":").at(-2))
  );
  assertEquals(secondLine - firstLine, 3);
  for (const part of [key, error.firstSite, error.secondSite]) assert(error.message.includes(part));
  assertEquals(first.get(), "first");
  assertStrictEquals(registry.get(key), first);
});

Deno.test("DuplicateSlotError names where a subclass of ThreadLocal was instantiated", () => {
  class Sub<T> extends ThreadLocal<T> {}
  const key = "thread_local_test.subclass";
  new Sub(key, { initial: 0 });

  const error = assertThrows(() => new Sub(key, { initial: 0 }), DuplicateSlotError);

  // The line of the class itself would be ten lines up.
  const [first, second] = [error.firstSite, error.secondSite].map((s) =>
    Number(s.split(":").at(-2))
  );
  assertEquals(second - first, 2);
});

for (const [first, second] of [[true, false], [false, true]]) {
  Deno.test(
    `ThreadLocal declared with shared: ${first}, then with shared: ${second}, throws`,
    () => {
      const key = `thread_local_test.shared ${first} ${second}`;
      new ThreadLocal(key, { initial: 0, shared: first });

      assertThrows(() => new ThreadLocal(key, { initial: 0, shared: second }), DuplicateSlotError);
    },
  );
}

Deno.test("ThreadLocal declared twice with shared: true is one slot with the first's options", () => {
  const key = "thread_local_test.shared";
  const size = registry.size;
  const one = new ThreadLocal(key, { initial: "first", shared: true });
  const two = new ThreadLocal(key, { initial: "second", shared: true, redact: true });

  assertEquals(registry.size, size + 1);
  assertEquals(two.get(), "first");
  assertFalse(two.redact);
  assertEquals(one.run("bound", () => two.get()), "bound");
});

Deno.test("ThreadLocal without options reads undefined", () => {
  const slot = new ThreadLocal<string | undefined>("thread_local_test.no options");

  assertEquals(slot.get(), undefined);
  assertFalse(slot.isBound());
});

Deno.test("ThreadLocal keeps a function given as initial as the value, and does not call it", () => {
  const fn = () => {
    throw new Error("called");
  };
  const slot = new ThreadLocal<() => void>("thread_local_test.function", { initial: fn });

  assertStrictEquals(slot.get(), fn);
});

Deno.test("ThreadLocal binds functions as values", () => {
  const slot = new ThreadLocal<(() => number) | undefined>("thread_local_test.bound function");
  const fn = () => 1;

  assertStrictEquals(slot.run(fn, () => slot.get()), fn);
});

// init

Deno.test("ThreadLocal calls init on the first read only, once for every flow", async () => {
  let calls = 0;
  const slot = new ThreadLocal("thread_local_test.init once", { init: () => ({ n: ++calls }) });
  assertEquals(calls, 0);

  const values = await Promise.all([1, 2, 3].map(async (i) => {
    if (i > 1) await null;
    return slot.get();
  }));

  assertEquals(calls, 1);
  assert(values.every((value) => value === values[0]));
});

Deno.test("ThreadLocal does not call init while the slot is bound", () => {
  const slot = new ThreadLocal<number>("thread_local_test.init not needed", {
    init: () => {
      throw new Error("called");
    },
  });

  assertEquals(slot.run(1, () => slot.get()), 1);
});

Deno.test("ThreadLocal calls an init that makes undefined once", () => {
  let calls = 0;
  const slot = new ThreadLocal<undefined>("thread_local_test.init undefined", {
    init: () => void calls++,
  });

  slot.get();
  slot.get();

  assertEquals(calls, 1);
});

Deno.test("ThreadLocal.get() throws what init throws, and tries again at the next read", () => {
  const failure = new Error("not yet");
  let calls = 0;
  const slot = new ThreadLocal("thread_local_test.init throws", {
    init: () => {
      if (++calls < 3) throw failure;
      return "made";
    },
  });

  for (let i = 0; i < 2; i++) assertStrictEquals(assertThrows(() => slot.get()), failure);

  assertEquals(slot.get(), "made");
  assertEquals(slot.get(), "made");
  assertEquals(calls, 3);
});

Deno.test("ThreadLocal runs init with no slot bound", () => {
  const user = new ThreadLocal("thread_local_test.init sees", { initial: "nobody" });
  const slot = new ThreadLocal("thread_local_test.init reads", { init: () => user.get() });

  assertEquals(user.run("ann", () => slot.get()), "nobody");
});

Deno.test("ThreadLocal keeps what init sets from its reader", () => {
  const user = new ThreadLocal("thread_local_test.init sets other", { initial: "nobody" });
  const slot = new ThreadLocal("thread_local_test.init sets", { init: () => user.set("init") });

  user.run("ann", () => {
    slot.get();
    assertEquals(user.get(), "ann");
  });
});

Deno.test("ThreadLocal.get() inside the slot's own init throws, naming the key", () => {
  let fails = true;
  const slot: ThreadLocal<string> = new ThreadLocal<string>("thread_local_test.init recursive", {
    init: () => fails ? slot.get() : "made",
  });

  assertThrows(() => slot.get(), Error, `Cannot read "thread_local_test.init recursive"`);

  fails = false;
  assertEquals(slot.get(), "made");
});

Deno.test("ThreadLocalState.get() calls init as ThreadLocal.get() does, once for both", () => {
  let calls = 0;
  const slot = new ThreadLocal("thread_local_test.init by state", { init: () => ++calls });

  assertEquals(saveThreadLocalState().get(slot), 1);

  assertEquals(slot.get(), 1);
});

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

// Where slots stand in a frame: 16 places of their own, then 32 to a chunk. A thousand in a row
// cover every kind of place; tests/registry/frame_test.ts has the exact numbers.
const thousand = Array.from(
  { length: 1_000 },
  (_, i) => new ThreadLocal(`thread_local_test.thousand ${i}`, { initial: -i }),
);

Deno.test("ThreadLocal: a thousand slots are bound and unbound without touching each other", () => {
  const check = (bound: number) =>
    thousand.forEach((slot, i) => assertEquals(slot.get(), i < bound ? i : -i));

  const nest = (bound: number): void => {
    if ([0, 1, 15, 16, 17, 47, 48, 49, 80, 81, 999, 1_000].includes(bound)) check(bound);
    if (bound < thousand.length) thousand[bound].run(bound, nest, bound + 1);
  };
  nest(0);

  check(0);
});

for (const number of [1, 16, 17, 18, 48, 49, 50, 80, 81, 1_000]) {
  Deno.test(`ThreadLocal number ${number} is bound alone, set and cleared as the first is`, async () => {
    const slot = thousand[number - 1];
    const others = thousand.filter((other) => other !== slot);

    await inTurnOfItsOwn(async () => {
      slot.run(1.5, () => {
        assertEquals(slot.get(), 1.5);
        assertEquals(others.filter((other) => other.isBound()), []);
      });
      slot.set(2.5);
      await null;
      assertEquals(slot.get(), 2.5);
      assertEquals(others.filter((other) => other.isBound()), []);
      slot.clear();
      assertFalse(slot.isBound());
      assertEquals(slot.get(), -(number - 1));
    });
  });
}

// Two of a chunk's neighbours in two flows: a chunk is copied, never written.
Deno.test("ThreadLocal: flows that bind neighbours in one chunk do not see each other's", async () => {
  const [, one, two] = thousand.slice(-3);

  const seen = await Promise.all([one, two].map((slot) =>
    slot.run(0.5, async () => {
      await null;
      return [one.isBound(), two.isBound()];
    })
  ));

  assertEquals(seen, [[true, false], [false, true]]);
});

Deno.test("ThreadLocal.enter() gives a guard that has bound nothing yet", async () => {
  const slot = new ThreadLocal("thread_local_test.enter", { initial: 0 });

  const guard = await slot.enter(1);

  assertFalse(slot.isBound());
  assertNotStrictEquals(guard, await slot.enter(1));
});
