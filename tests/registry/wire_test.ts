import { registry, ThreadLocal, ThreadLocalState } from "@thread-local/core";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { any, empty, freshKey, reporting, secret, user, when, wireOf } from "./_wires.ts";

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

Deno.test("ThreadLocalState.fromWire() copies the values", () => {
  const tags = ["a"];
  const state = ThreadLocalState.fromWire(wireOf(["wire_test.any", tags]));

  tags.push("b");

  assertEquals(state.get(any), ["a"]);
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
