import { saveThreadLocalState, ThreadLocal, ThreadLocalState } from "@thread-local/core";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { freshKey, reporting, user, wireOf } from "./_wires.ts";

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

Deno.test("ThreadLocal declared after a wire may read itself in its decode", () => {
  const key = freshKey();
  const state = ThreadLocalState.fromWire(wireOf([key, 1]));
  const slot: ThreadLocal<number> = new ThreadLocal<number>(key, {
    initial: 7,
    wire: { encode: Number, decode: (wire) => state.get(slot) + Number(wire) },
  });

  assertEquals(state.get(slot), 8);
});
