import {
  assert,
  assertEquals,
  assertFalse,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  DuplicateSlotError,
  registry,
  saveThreadLocalState,
  ThreadLocal,
} from "@thread-local/core/registry";

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
  const key = "declare_test.unknown option";

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
    const key = `declare_test.${name}`;

    assertThrows(() => new Untyped(key, options), TypeError, `Cannot declare "${key}": `);

    assertFalse(registry.has(key));
  });
}

Deno.test("ThreadLocal declared twice throws DuplicateSlotError with the key and both places", () => {
  const key = "declare_test.twice";
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
  const key = "declare_test.subclass";
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
      const key = `declare_test.shared ${first} ${second}`;
      new ThreadLocal(key, { initial: 0, shared: first });

      assertThrows(() => new ThreadLocal(key, { initial: 0, shared: second }), DuplicateSlotError);
    },
  );
}

Deno.test("ThreadLocal declared twice with shared: true is one slot with the first's options", () => {
  const key = "declare_test.shared";
  const size = registry.size;
  const one = new ThreadLocal(key, { initial: "first", shared: true });
  const two = new ThreadLocal(key, { initial: "second", shared: true, redact: true });

  assertEquals(registry.size, size + 1);
  assertEquals(two.get(), "first");
  assertFalse(two.redact);
  assertEquals(one.run("bound", () => two.get()), "bound");
});

Deno.test("ThreadLocal without options reads undefined", () => {
  const slot = new ThreadLocal<string | undefined>("declare_test.no options");

  assertEquals(slot.get(), undefined);
  assertFalse(slot.isBound());
});

Deno.test("ThreadLocal keeps a function given as initial as the value, and does not call it", () => {
  const fn = () => {
    throw new Error("called");
  };
  const slot = new ThreadLocal<() => void>("declare_test.function", { initial: fn });

  assertStrictEquals(slot.get(), fn);
});

Deno.test("ThreadLocal binds functions as values", () => {
  const slot = new ThreadLocal<(() => number) | undefined>("declare_test.bound function");
  const fn = () => 1;

  assertStrictEquals(slot.run(fn, () => slot.get()), fn);
});

// init

Deno.test("ThreadLocal calls init on the first read only, once for every flow", async () => {
  let calls = 0;
  const slot = new ThreadLocal("declare_test.init once", { init: () => ({ n: ++calls }) });
  assertEquals(calls, 0);

  const values = await Promise.all([1, 2, 3].map(async (i) => {
    if (i > 1) await null;
    return slot.get();
  }));

  assertEquals(calls, 1);
  assert(values.every((value) => value === values[0]));
});

Deno.test("ThreadLocal does not call init while the slot is bound", () => {
  const slot = new ThreadLocal<number>("declare_test.init not needed", {
    init: () => {
      throw new Error("called");
    },
  });

  assertEquals(slot.run(1, () => slot.get()), 1);
});

Deno.test("ThreadLocal calls an init that makes undefined once", () => {
  let calls = 0;
  const slot = new ThreadLocal<undefined>("declare_test.init undefined", {
    init: () => void calls++,
  });

  slot.get();
  slot.get();

  assertEquals(calls, 1);
});

Deno.test("ThreadLocal.get() throws what init throws, and tries again at the next read", () => {
  const failure = new Error("not yet");
  let calls = 0;
  const slot = new ThreadLocal("declare_test.init throws", {
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
  const user = new ThreadLocal("declare_test.init sees", { initial: "nobody" });
  const slot = new ThreadLocal("declare_test.init reads", { init: () => user.get() });

  assertEquals(user.run("ann", () => slot.get()), "nobody");
});

Deno.test("ThreadLocal keeps what init sets from its reader", () => {
  const user = new ThreadLocal("declare_test.init sets other", { initial: "nobody" });
  const slot = new ThreadLocal("declare_test.init sets", { init: () => user.set("init") });

  user.run("ann", () => {
    slot.get();
    assertEquals(user.get(), "ann");
  });
});

Deno.test("ThreadLocal.get() inside the slot's own init throws, naming the key", () => {
  let fails = true;
  const slot: ThreadLocal<string> = new ThreadLocal<string>("declare_test.init recursive", {
    init: () => fails ? slot.get() : "made",
  });

  assertThrows(() => slot.get(), Error, `Cannot read "declare_test.init recursive"`);

  fails = false;
  assertEquals(slot.get(), "made");
});

Deno.test("ThreadLocalState.get() calls init as ThreadLocal.get() does, once for both", () => {
  let calls = 0;
  const slot = new ThreadLocal("declare_test.init by state", { init: () => ++calls });

  assertEquals(saveThreadLocalState().get(slot), 1);

  assertEquals(slot.get(), 1);
});
