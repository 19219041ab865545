import {
  type Guard,
  restoreThreadLocalState,
  saveThreadLocalState,
  scoped,
  ThreadLocal,
  type ThreadLocalState,
  ThreadLocalStateGuard,
} from "@thread-local/core";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";

type Slot = ThreadLocal<unknown>;

/** What can be read of each slot: whether it is bound, and its value. */
type Reads = readonly (readonly [slot: Slot, bound: boolean, value: unknown])[];

// Enough for all flat places of a frame and for two of its chunks.
const slots: readonly Slot[] = Array.from(
  { length: 60 },
  (_, number) => new ThreadLocal<unknown>(`laws_test.${number}`, { initial: `initial ${number}` }),
);

const slot = fc.constantFrom(...slots);
const named = fc.uniqueArray(slot, { maxLength: slots.length, size: "max" });
const value = fc.oneof(fc.anything({ maxDepth: 1 }), fc.constant(undefined));
const bindings = fc.array(fc.tuple(slot, value), { maxLength: 80, size: "max" });

/** Any state, the empty one too. */
const state = bindings.map((bindings) =>
  scoped(() => {
    for (const [slot, value] of bindings) slot.set(value);
    return saveThreadLocalState();
  })
);

function readFlow(): Reads {
  return slots.map((slot) => [slot, slot.isBound(), slot.get()]);
}

function readState(state: ThreadLocalState): Reads {
  return slots.map((slot) => [slot, state.has(slot), state.get(slot)]);
}

function without(reads: Reads, except: Slot): Reads {
  return reads.filter(([slot]) => slot !== except);
}

/** A value must come back as itself, not as its equal. */
function assertSame(actual: Reads, expected: Reads): void {
  const differs = expected.findIndex((read, i) =>
    read.some((part, j) => !Object.is(part, actual[i][j]))
  );
  if (differs >= 0) assertEquals(actual[differs].slice(1), expected[differs].slice(1));
  assert(differs < 0, "equal, but not the same");
  assertEquals(actual.length, expected.length);
}

Deno.test("restoreThreadLocalState() of what saveThreadLocalState() returned is the identity over all slots", () => {
  fc.assert(fc.property(state, state, bindings, (around, other, after) =>
    around.run(() => {
      const before = readFlow();
      const saved = saveThreadLocalState();

      restoreThreadLocalState(other);
      for (const [slot, value] of after) slot.set(value);
      restoreThreadLocalState(saved);

      assertSame(readFlow(), before);
      assertSame(readState(saved), before);
    })));
});

Deno.test("saveThreadLocalState() after restoreThreadLocalState(state) says what state says", () => {
  fc.assert(fc.property(state, state, (around, restored) =>
    around.run(() => {
      restoreThreadLocalState(restored);

      assertSame(readState(saveThreadLocalState()), readState(restored));
    })));
});

Deno.test("ThreadLocalState.run() reads what the state says, and leaves the caller as it was", () => {
  fc.assert(fc.property(state, state, bindings, (around, entered, inside) =>
    around.run(() => {
      const before = readFlow();

      const reads = entered.run(() => {
        const reads = readFlow();
        for (const [slot, value] of inside) slot.set(value);
        return reads;
      });

      assertSame(reads, readState(entered));
      assertSame(readFlow(), before);
    })));
});

Deno.test("ThreadLocalState.with() binds the slot to the value and leaves all others alone", () => {
  fc.assert(fc.property(state, slot, value, (original, slot, value) => {
    const before = readState(original);

    const edited = original.with(slot, value);

    assert(edited.has(slot));
    assert(Object.is(edited.get(slot), value));
    assertSame(without(readState(edited), slot), without(before, slot));
    assertSame(readState(original), before);
  }));
});

Deno.test("ThreadLocalState.without() unbinds the slot and leaves all others alone", () => {
  fc.assert(fc.property(state, slot, (original, slot) => {
    const before = readState(original);

    const edited = original.without(slot);

    assert(!edited.has(slot));
    assert(Object.is(edited.get(slot), slot.get()), "it reads its initial value");
    assertSame(without(readState(edited), slot), without(before, slot));
    assertSame(readState(original), before);
  }));
});

Deno.test("ThreadLocalState.pick() and omit() of the same slots partition the state", () => {
  fc.assert(fc.property(state, named, (original, named) => {
    const picked = original.pick(...named);
    const omitted = original.omit(...named);

    assertEquals(picked.size + omitted.size, original.size);
    for (const slot of slots) {
      assertEquals(picked.has(slot), named.includes(slot) && original.has(slot));
      assertEquals(omitted.has(slot), !named.includes(slot) && original.has(slot));
      const half = named.includes(slot) ? picked : omitted;
      assert(Object.is(half.get(slot), original.get(slot)));
    }
  }));
});

Deno.test("ThreadLocalState.pick() merged into omit() of the same slots is the state again", () => {
  fc.assert(fc.property(state, named, (original, named) =>
    original.omit(...named).run(() => {
      restoreThreadLocalState(original.pick(...named), { mode: "merge" });

      assertSame(readFlow(), readState(original));
    })));
});

Deno.test("ThreadLocalState iterates over its bindings in the order of declaration", () => {
  fc.assert(fc.property(state, (state) => {
    const bound = readState(state).filter(([, bound]) => bound);

    assertSame([...state].map(([slot, value]) => [slot, true, value]), bound);
    assertEquals(state.size, bound.length);
  }));
});

Deno.test("restoreThreadLocalState() with merge takes what the state binds, and keeps the rest", () => {
  fc.assert(fc.property(state, state, (around, merged) =>
    around.run(() => {
      const before = readFlow();

      restoreThreadLocalState(merged, { mode: "merge" });

      const over = readState(merged);
      assertSame(readFlow(), before.map((read, i) => merged.has(read[0]) ? over[i] : read));
    })));
});

Deno.test("restoreThreadLocalState() with merge is idempotent", () => {
  fc.assert(fc.property(state, state, (around, merged) =>
    around.run(() => {
      restoreThreadLocalState(merged, { mode: "merge" });
      const once = readFlow();

      restoreThreadLocalState(merged, { mode: "merge" });

      assertSame(readFlow(), once);
    })));
});

/** Opens guards inside one another and closes them, as nested `using` blocks do. */
function nest(guards: readonly Guard[], fn: () => void): void {
  using stack = new DisposableStack();
  for (const guard of guards) stack.use(guard);
  fn();
}

Deno.test("ThreadLocal.with() opened and closed is the identity over all slots", () => {
  fc.assert(fc.property(state, bindings, (around, bindings) =>
    around.run(() => {
      const before = readFlow();

      nest(bindings.map(([slot, value]) => slot.with(value)), () => {
        for (const [slot, value] of new Map(bindings)) assert(Object.is(slot.get(), value));
      });

      assertSame(readFlow(), before);
    })));
});

Deno.test("ThreadLocal.with() undoes set() of its own slot, and keeps set() of others", () => {
  fc.assert(fc.property(state, slot, bindings, (around, guarded, inside) =>
    around.run(() => {
      const expected = new Map(readFlow().map((read) => [read[0], read]));
      for (const [slot, value] of inside) {
        if (slot !== guarded) expected.set(slot, [slot, true, value]);
      }

      nest([guarded.with("guarded")], () => {
        for (const [slot, value] of inside) slot.set(value);
      });

      assertSame(readFlow(), [...expected.values()]);
    })));
});

Deno.test("ThreadLocalStateGuard opened and closed is the identity, whatever is bound inside", () => {
  fc.assert(fc.property(state, state, bindings, (around, guarded, inside) =>
    around.run(() => {
      const before = readFlow();

      nest([new ThreadLocalStateGuard(guarded)], () => {
        assertSame(readFlow(), readState(guarded));
        for (const [slot, value] of inside) slot.set(value);
      });

      assertSame(readFlow(), before);
    })));
});

Deno.test("ThreadLocal.enter() opened and closed is the identity, across an await", async () => {
  await fc.assert(
    fc.asyncProperty(state, slot, value, (around, slot, value) =>
      around.run(async () => {
        const before = readFlow();
        {
          using _ = await slot.enter(value);
          await undefined;

          assert(Object.is(slot.get(), value));
          assertSame(without(readFlow(), slot), without(before, slot));
        }
        assertSame(readFlow(), before);
      })),
  );
});
