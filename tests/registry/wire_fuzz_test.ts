import { type StateWire, ThreadLocalState } from "@thread-local/core";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { any, empty, reporting, secret, user, when } from "./_wires.ts";

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
