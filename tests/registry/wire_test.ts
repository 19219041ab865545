import {
  fork,
  type MisuseReport,
  onMisuse,
  registry,
  saveThreadLocalState,
  type StateWire,
  ThreadLocal,
  ThreadLocalState,
} from "@thread-local/core";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";

const user = new ThreadLocal("wire_test.user", { initial: "nobody", wire: true });
const any = new ThreadLocal<unknown>("wire_test.any", { wire: true });
const secret = new ThreadLocal("wire_test.secret", { initial: "none" });
const when = new ThreadLocal("wire_test.when", {
  initial: new Date(0),
  wire: {
    encode: (value) => value.getTime(),
    decode(wire) {
      const date = new Date(typeof wire === "number" ? wire : NaN);
      if (Number.isNaN(date.getTime())) throw new RangeError("not a time");
      return date;
    },
  },
});

const empty = saveThreadLocalState().pick();

/** A wire with these bindings, however wrong. */
function wireOf(...bindings: unknown[]): unknown {
  return { version: 1, bindings };
}

/** What `fn` returns, and what was reported while it ran. */
function reporting<R>(fn: () => R): { result: R; reports: MisuseReport[] } {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  return { result: fn(), reports };
}

let declared = 0;

/** A key that no slot has. */
function freshKey(): string {
  return `wire_test.late${declared++}`;
}

Deno.test("ThreadLocalState.toWire() and fromWire() carry a binding through JSON text", () => {
  const state = empty.with(user, "ann").with(when, new Date(5));

  const text = JSON.stringify(state.toWire());

  assertEquals(ThreadLocalState.fromWire(JSON.parse(text)).get(user), "ann");
  assertEquals(ThreadLocalState.fromWire(text).get(when), new Date(5));
});

Deno.test("ThreadLocalState.toWire() leaves out a slot without wire", () => {
  const state = empty.with(user, "ann").with(secret, "password");

  const wire = state.toWire();

  assertEquals(wire, { version: 1, bindings: [["wire_test.user", "ann"]] });
});

Deno.test("ThreadLocalState.toWire() carries a bound undefined as a binding", () => {
  const state = empty.with(any, undefined);

  const received = ThreadLocalState.fromWire(JSON.stringify(state.toWire()));

  assert(received.has(any));
  assertEquals(received.get(any), undefined);
});

Deno.test("ThreadLocalState.toWire() carries a bound null as null", () => {
  const state = empty.with(any, null);

  assertEquals([state.has(any), state.get(any)], [true, null]);
  assertEquals(ThreadLocalState.fromWire(state.toWire()).get(any), null);
});

Deno.test("ThreadLocalState.toWire() copies the values", () => {
  const tags = ["a"];
  const wire = empty.with(any, { tags }).toWire();

  tags.push("b");

  assertEquals(wire.bindings, [["wire_test.any", { tags: ["a"] }]]);
});

Deno.test("ThreadLocalState.toWire() leaves out a property that is undefined, as JSON does", () => {
  const wire = empty.with(any, { a: 1, b: undefined }).toWire();

  assertEquals(wire.bindings, [["wire_test.any", { a: 1 }]]);
});

const cyclic: unknown[] = [];
cyclic.push(cyclic);

for (
  const [what, value] of Object.entries({
    "a function": () => 1,
    "a symbol": Symbol("s"),
    "a bigint": 1n,
    "NaN": NaN,
    "an infinity": -Infinity,
    "an instance of a class": new Date(0),
    "a map": new Map(),
    "undefined in an array": [undefined],
    "a hole in an array": new Array(2),
    "a cycle": cyclic,
    "a __proto__ property": JSON.parse(`{"__proto__":{"polluted":true}}`),
    "a getter that throws": Object.defineProperty({}, "g", {
      enumerable: true,
      get() {
        throw new Error("no");
      },
    }),
  })
) {
  Deno.test(`ThreadLocalState.toWire() throws and names the key for ${what}`, () => {
    const state = empty.with(user, "ann").with(any, { deep: [value] });

    assertThrows(() => state.toWire(), TypeError, `"wire_test.any"`);
  });
}

Deno.test("ThreadLocalState.toWire() names the key when encode throws, and keeps the cause", () => {
  const cause = new RangeError("cannot");
  const slot = new ThreadLocal("wire_test.unencodable", {
    initial: 0,
    wire: {
      encode() {
        throw cause;
      },
      decode: Number,
    },
  });

  const error = assertThrows(() => empty.with(slot, 1).toWire(), TypeError, slot.key);

  assertStrictEquals(error.cause, cause);
});

Deno.test("ThreadLocalState.fromWire() binds nothing that the wire does not", () => {
  const state = ThreadLocalState.fromWire(wireOf(["wire_test.user", "ann"]));

  user.run("bob", () =>
    secret.run("password", () =>
      state.run(() => {
        assertEquals([user.get(), secret.get()], ["ann", "none"]);
      })));
});

Deno.test("ThreadLocalState.fromWire() does not let a wire bind a slot without wire", () => {
  const { result, reports } = reporting(() =>
    ThreadLocalState.fromWire(wireOf(["wire_test.secret", "guessed"], ["wire_test.user", "ann"]))
  );

  assertEquals([result.get(secret), result.get(user)], ["none", "ann"]);
  assertEquals(reports.map(({ kind, key }) => [kind, key]), [
    ["wire-rejected", "wire_test.secret"],
  ]);
  assertEquals(result.toWire(), empty.with(user, "ann").toWire());
});

Deno.test("ThreadLocalState.fromWire() reads the initial value where decode throws", () => {
  const { result, reports } = reporting(() =>
    ThreadLocalState.fromWire(wireOf(["wire_test.when", "tomorrow"], ["wire_test.user", "ann"]))
  );

  assertEquals([result.has(when), result.get(when)], [false, new Date(0)]);
  assertEquals(result.get(user), "ann");
  assertEquals(reports.map(({ key }) => key), ["wire_test.when"]);
  assert(reports[0].message.includes("not a time"));
});

Deno.test("ThreadLocalState.fromWire() keeps what a decode binds from every flow and binding", () => {
  const seen: unknown[] = [];
  const lying = ["a", "b"].map((name) =>
    new ThreadLocal<unknown>(`wire_test.lying-${name}`, {
      wire: {
        encode: String,
        decode() {
          seen.push(user.get());
          user.set("mallory");
          return undefined;
        },
      },
    })
  );

  const state = user.run(
    "ann",
    () => ThreadLocalState.fromWire(wireOf(...lying.map(({ key }) => [key, 1]))),
  );

  assertEquals(seen, ["nobody", "nobody"]);
  assertEquals([user.get(), state.get(user)], ["nobody", "nobody"]);
  assert(state.has(lying[0]));
});

for (
  const [what, wire] of Object.entries({
    "undefined": undefined,
    "null": null,
    "a number": 1,
    "no JSON text": "{",
    "JSON text of null": "null",
    "no version": { bindings: [] },
    "a version to come": { version: 2, bindings: [] },
    "a version as text": { version: "1", bindings: [] },
    "bindings that are no array": { version: 1, bindings: { length: 1 } },
    "properties that throw": new Proxy({}, {
      get() {
        throw new Error("hostile");
      },
    }),
    "an error that cannot be printed": new Proxy({}, {
      get() {
        throw Object.create(null);
      },
    }),
  })
) {
  Deno.test(`ThreadLocalState.fromWire() makes an empty state of ${what}, and reports it`, () => {
    const { result, reports } = reporting(() => ThreadLocalState.fromWire(wire));

    assertEquals(result.size, 0);
    assertEquals(reports.map(({ kind, key }) => [kind, key]), [["wire-rejected", undefined]]);
  });
}

for (
  const [what, binding, key] of [
    ["is no pair", "user", "?"],
    ["has no key", [], "?"],
    ["has a key that is no text", [1, 1], "?"],
    ["has an empty key", ["", 1], ""],
    ["is bound twice", ["wire_test.user", "bob"], "wire_test.user"],
    ["is no JSON value", ["wire_test.any", new Map()], "wire_test.any"],
    ["has a __proto__ property", ["wire_test.any", JSON.parse(`{"__proto__":1}`)], "wire_test.any"],
  ] as const
) {
  Deno.test(`ThreadLocalState.fromWire() leaves out and reports a binding that ${what}`, () => {
    const { result, reports } = reporting(() =>
      ThreadLocalState.fromWire(wireOf(["wire_test.user", "ann"], binding))
    );

    assertEquals([...result].map(([slot, value]) => [slot.key, value]), [
      ["wire_test.user", "ann"],
    ]);
    assertEquals(reports.map((report) => [report.kind, report.key]), [["wire-rejected", key]]);
  });
}

Deno.test("ThreadLocalState.fromWire() takes no more bindings than maxEntries, and says so once", () => {
  const bindings = [["wire_test.user", "ann"], ["x", 1], ["y", 2], ["z", 3]];

  const { result, reports } = reporting(() =>
    ThreadLocalState.fromWire(wireOf(...bindings), { maxEntries: 2 })
  );

  assertEquals(result.toWire().bindings, [["wire_test.user", "ann"], ["x", 1]]);
  assertEquals(reports.map(({ key }) => key), ["y"]);
});

Deno.test("ThreadLocalState.fromWire() takes no key longer than maxKeyLength", () => {
  const { result, reports } = reporting(() =>
    ThreadLocalState.fromWire(wireOf(["long-key", 1], ["k", 1]), { maxKeyLength: 4 })
  );

  assertEquals(result.toWire().bindings, [["k", 1]]);
  assertEquals(reports.map(({ key }) => key), ["long"]);
});

Deno.test("ThreadLocalState.fromWire() leaves out what exceeds maxSize, and takes what fits", () => {
  const large = "x".repeat(100);

  const { result, reports } = reporting(() =>
    ThreadLocalState.fromWire(wireOf(["wire_test.any", [large]], ["wire_test.user", "ann"]), {
      maxSize: 50,
    })
  );

  assertEquals([result.has(any), result.get(user)], [false, "ann"]);
  assertEquals(reports.map(({ key }) => key), ["wire_test.any"]);
});

Deno.test("ThreadLocalState.fromWire() does not parse text far longer than maxSize", () => {
  const text = JSON.stringify(empty.with(user, "ann").toWire());

  const { result, reports } = reporting(() => ThreadLocalState.fromWire(text, { maxSize: 4 }));

  assertEquals([result.size, reports.length], [0, 1]);
});

Deno.test("ThreadLocalState.fromWire() takes no value nested deeper than maxDepth", () => {
  const wire = wireOf(["wire_test.any", [[1]]]);

  const { result } = reporting(() => ThreadLocalState.fromWire(wire, { maxDepth: 1 }));

  assert(!result.has(any));
  assertEquals(ThreadLocalState.fromWire(wire, { maxDepth: 2 }).get(any), [[1]]);
});

Deno.test("ThreadLocalState.fromWire() survives a value nested a million deep", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 1_000_000; i++) deep = [deep];

  const { result, reports } = reporting(() =>
    ThreadLocalState.fromWire(wireOf(["wire_test.any", deep], ["wire_test.user", "ann"]))
  );

  assertEquals([result.get(user), reports.length], ["ann", 1]);
});

Deno.test("ThreadLocalState.fromWire() throws for a limit that is no number", () => {
  for (const limit of [NaN, -1, "9" as unknown as number]) {
    assertThrows(
      () => ThreadLocalState.fromWire(wireOf(), { maxSize: limit }),
      TypeError,
      "maxSize",
    );
  }
});

Deno.test("ThreadLocalState.fromWire() copies the values", () => {
  const tags = ["a"];
  const state = ThreadLocalState.fromWire(wireOf(["wire_test.any", tags]));

  tags.push("b");

  assertEquals(state.get(any), ["a"]);
});

Deno.test("ThreadLocalState.toWire() passes on a binding of a key that is not declared", () => {
  const key = freshKey();
  const received = ThreadLocalState.fromWire(wireOf([key, { n: 1 }], ["wire_test.user", "ann"]));

  const passedOn = received.run(saveThreadLocalState).with(user, "bob").toWire();

  assertEquals(received.size, 1);
  assertEquals(passedOn.bindings, [["wire_test.user", "bob"], [key, { n: 1 }]]);
});

Deno.test("ThreadLocal declared after a wire has the binding that it carried", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, "2020-01-01"]));
  const slot = new ThreadLocal<Date | undefined>(key, {
    wire: { encode: (date) => date?.toISOString(), decode: (wire) => new Date(String(wire)) },
  });

  const [read, again, bound] = state.run(() => [slot.get(), slot.get(), slot.isBound()]);

  assertEquals(read, new Date("2020-01-01"));
  assertStrictEquals(again, read);
  assert(bound);
  assertEquals([slot.get(), slot.isBound()], [undefined, false]);
  assertEquals([state.has(slot), state.get(slot), state.size], [true, read, 1]);
  assertEquals([...state], [[slot, read]]);
  assertEquals(state.toWire().bindings, [[key, "2020-01-01T00:00:00.000Z"]]);
});

Deno.test("ThreadLocal declared after a wire can be bound anew, and cleared", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, 1], ["wire_test.user", "ann"]));
  const slot = new ThreadLocal(key, { initial: 0, wire: true });

  state.run(() => {
    assertEquals(slot.get(), 1);
    slot.set(2);
    assertEquals(slot.get(), 2);
    slot.clear();
    assertEquals([slot.get(), slot.isBound(), user.get()], [0, false, "ann"]);
  });
  assertEquals(state.get(slot), 1);
});

Deno.test("ThreadLocalState's methods treat a carried binding like any other", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, 1], ["wire_test.user", "ann"]));
  const slot = new ThreadLocal(key, { initial: 0, wire: true });

  assertEquals(state.without(slot).has(slot), false);
  assertEquals(state.omit(slot).has(slot), false);
  assertEquals(state.pick(slot).get(slot), 1);
  assertEquals(state.pick(slot).has(user), false);
  assertEquals(state.with(slot, 5).get(slot), 5);
});

Deno.test("restoreThreadLocalState merges carried bindings on both sides", async () => {
  const { restoreThreadLocalState } = await import("@thread-local/core");
  const [first, second, both] = [freshKey(), freshKey(), freshKey()];
  const below = ThreadLocalState.fromWire(wireOf([first, 1], [both, 1]));
  const above = ThreadLocalState.fromWire(wireOf([second, 2], [both, 2]));

  const merged = below.run(() => {
    restoreThreadLocalState(above, { mode: "merge" });
    return saveThreadLocalState();
  });

  assertEquals(merged.toWire().bindings, [[first, 1], [both, 2], [second, 2]]);
});

Deno.test("ThreadLocal declared after a wire, without wire, does not get what it carried", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, "guessed"]));
  const slot = new ThreadLocal(key, { initial: "none" });

  const { result, reports } = reporting(() => [state.get(slot), state.toWire().bindings.length]);

  assertEquals(result, ["none", 0]);
  assertEquals(reports.map((report) => report.key), [key]);
});

Deno.test("ThreadLocal declared after a wire reads its initial value where decode throws, reported once", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, "bad"]));
  const slot = new ThreadLocal(key, {
    initial: 7,
    wire: {
      encode: Number,
      decode(): number {
        throw new Error("refused");
      },
    },
  });

  const { result, reports } = reporting(() => state.run(() => [slot.get(), slot.get()]));

  assertEquals(result, [7, 7]);
  assertEquals(reports.map((report) => report.key), [key]);
});

Deno.test("fork() applies the policy of a slot declared after a wire to what it carried", async () => {
  const [key, copied] = [freshKey(), freshKey()];
  const state = ThreadLocalState.fromWire(wireOf([key, 1], [copied, [1]]));
  const own = new ThreadLocal(key, { initial: 0, inherit: false, wire: true });
  const copy = new ThreadLocal<number[]>(copied, {
    initial: [],
    fork: (value) => [...value, 2],
    wire: true,
  });

  const forked = await state.run(() => fork(() => [own.isBound(), copy.get()]));

  assertEquals(forked, [false, [1, 2]]);
  assertEquals([state.get(own), state.get(copy)], [1, [1]]);
});

Deno.test("ThreadLocal declared after a wire may read itself in its decode", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, 1]));
  const slot: ThreadLocal<number> = new ThreadLocal<number>(key, {
    initial: 7,
    wire: { encode: Number, decode: (wire) => state.get(slot) + Number(wire) },
  });

  assertEquals(state.get(slot), 8);
});

Deno.test("ThreadLocalState.fromWire() adds no key to the registry", () => {
  const before = [...registry.keys()];

  ThreadLocalState.fromWire(wireOf([freshKey(), 1], ["__proto__", 1], ["constructor", 1]));

  assertEquals([...registry.keys()], before);
});

Deno.test("ThreadLocalState.fromWire() is on the root thread of this isolate", () => {
  const state = ThreadLocalState.fromWire(wireOf(["wire_test.user", "ann"]));

  assertStrictEquals(state["frame"][0], empty["frame"][0]);
});

Deno.test("A stranger's keys do not use up the console's warnings", () => {
  const warned: unknown[] = [];
  const { warn } = console;
  console.warn = (...args) => warned.push(args);

  try {
    for (let i = 0; i < 50; i++) ThreadLocalState.fromWire(wireOf([`stranger${i}`, new Map()]));
  } finally {
    console.warn = warn;
  }

  assert(warned.length <= 1);
});

/** Everything that a polluted prototype would change. */
function prototypes(): unknown {
  return [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype]
    .map((prototype) => [
      Object.getPrototypeOf(prototype),
      Reflect.ownKeys(prototype).map(String),
    ]);
}

const keys = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    ...[user, any, secret, when].map((slot) => slot.key),
  ),
  fc.string(),
);

const wires = fc.oneof(
  fc.anything({
    withMap: true,
    withDate: true,
    withBigInt: true,
    withNullPrototype: true,
    key: keys,
  }),
  fc.json(),
  fc.string(),
  fc.record({
    version: fc.oneof(fc.constant(1), fc.constant(1), fc.anything()),
    bindings: fc.array(fc.oneof(
      fc.tuple(keys, fc.anything({ withSparseArray: true, withBigInt: true, key: keys })),
      fc.tuple(keys, fc.jsonValue()),
      fc.anything(),
    )),
  }, { requiredKeys: [] }),
);

Deno.test("ThreadLocalState.fromWire() never throws and pollutes no prototype, whatever comes", () => {
  const before = prototypes();

  reporting(() =>
    fc.assert(
      fc.property(wires, fc.boolean(), (wire, asText) => {
        const state = ThreadLocalState.fromWire(asText ? JSON.stringify(wire, big) : wire);

        assertEquals(state.get(secret), "none");
        assert(state.get(when) instanceof Date);
        for (const [slot] of state) assert(slot.wire !== undefined);
        const again = ThreadLocalState.fromWire(JSON.stringify(state.toWire()));
        assertEquals(again.toWire(), state.toWire());
      }),
      { numRuns: 2_000 },
    )
  );

  assertEquals(prototypes(), before);
});

/** `JSON.stringify` does not take bigints. */
function big(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

Deno.test("ThreadLocalState.fromWire() never throws at a good wire with some text changed", () => {
  const good = JSON.stringify(
    empty.with(user, "ann").with(any, { a: [1, null, "x"] }).with(when, new Date(9)).toWire(),
  );
  const before = prototypes();

  reporting(() =>
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(8), fc.string({ maxLength: 8 }), (at, cut, put) => {
        const state = ThreadLocalState.fromWire(good.slice(0, at) + put + good.slice(at + cut));

        assert(state.get(when) instanceof Date);
        assertEquals(state.get(secret), "none");
      }),
      { numRuns: 2_000 },
    )
  );

  assertEquals(prototypes(), before);
});

Deno.test("ThreadLocalState.fromWire() ∘ toWire() is the identity for JSON values", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 8 }).filter((value) => !JSON.stringify(value).includes("__proto__")),
      (value) => {
        const wire: StateWire = empty.with(any, value).toWire();

        const received = ThreadLocalState.fromWire(JSON.stringify(wire)).get(any);

        assertEquals(JSON.stringify(received), JSON.stringify(value));
      },
    ),
    { numRuns: 1_000 },
  );
});
