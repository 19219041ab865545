import { ThreadLocalState } from "@thread-local/core";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { any, empty, reporting, user, wireOf } from "./_wires.ts";

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
