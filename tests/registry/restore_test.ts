import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  registry,
  restoreThreadLocalState,
  saveThreadLocalState,
  ThreadLocal,
  type ThreadLocalState,
} from "@thread-local/core/registry";
import { scoped } from "@thread-local/core/propagation";
import { nextTurn, testEverywhere } from "../fixtures/everywhere.ts";

const user = new ThreadLocal("restore_test.user", { initial: "nobody" });
const locale = new ThreadLocal("restore_test.locale", { initial: "en" });
const maybe = new ThreadLocal<string | undefined>("restore_test.maybe", { initial: "initial" });

const ann = user.run("ann", saveThreadLocalState);

// Save

testEverywhere("saveThreadLocalState() keeps what the flow sees, whatever it binds later", (at) => {
  const { slot, before, bound, value } = at;
  const first = saveThreadLocalState();

  return at.flow(function* () {
    slot.set(value);
    const second = saveThreadLocalState();
    yield;
    slot.set("later");
    yield;
    assertEquals([first.get(slot), first.has(slot)], [before, bound]);
    assertEquals([second.get(slot), second.has(slot)], [value, true]);
  });
});

Deno.test("saveThreadLocalState() outside every binding binds nothing", () => {
  const state = saveThreadLocalState();

  assertEquals(state.size, 0);
  assertEquals([...state], []);
  assertEquals(state.get(user), "nobody");
});

Deno.test("saveThreadLocalState() covers every registered slot, also those unbound at the save", () => {
  const slots = [...registry];
  const bound = slots.filter((_, i) => i % 2 === 0);

  const state = scoped(() => {
    for (const slot of bound) (slot as ThreadLocal<unknown>).set(slot.key);
    return saveThreadLocalState();
  });

  scoped(() => {
    for (const slot of slots) (slot as ThreadLocal<unknown>).set("the restorer's");
    restoreThreadLocalState(state);
    for (const slot of slots) {
      assertEquals(slot.isBound(), bound.includes(slot), slot.key);
      if (slot.isBound()) assertEquals(slot.get(), slot.key);
    }
  });
});

Deno.test("ThreadLocal declared after a save reads its initial value inside, never the restorer's", () => {
  const state = user.run("ann", saveThreadLocalState);

  const late = new ThreadLocal("restore_test.late", { initial: "initial" });

  late.run("the restorer's", () => {
    assertEquals(state.run(() => late.get()), "initial");
    assertEquals([state.get(late), state.has(late)], ["initial", false]);
    restoreThreadLocalState(state);
    assertEquals(late.get(), "initial");
  });
});

// Restore

testEverywhere("restoreThreadLocalState() replaces the frame from here on in this flow", (at) => {
  const { slot, value } = at;
  const state = saveThreadLocalState().with(slot, value).without(locale);

  return at.flow(function* () {
    slot.set("present");
    locale.set("fr");
    yield;
    restoreThreadLocalState(state);
    assertEquals([slot.get(), locale.isBound()], [value, false]);
    yield;
    assertEquals([slot.get(), locale.isBound()], [value, false]);
  });
});

testEverywhere("restoreThreadLocalState() with merge overlays what the state binds", (at) => {
  const { slot, value } = at;
  const state = saveThreadLocalState().pick().with(slot, value);

  return at.flow(function* () {
    slot.set("present");
    locale.set("fr");
    yield;
    restoreThreadLocalState(state, { mode: "merge" });
    yield;
    assertEquals([slot.get(), locale.get()], [value, "fr"]);
  });
});

testEverywhere("restoreThreadLocalState() of a state that was saved before unbinds since", (at) => {
  const { slot, before, bound, value } = at;
  const state = saveThreadLocalState();

  return at.flow(function* () {
    slot.set(value);
    yield;
    restoreThreadLocalState(state);
    yield;
    assertEquals([slot.get(), slot.isBound()], [before, bound]);
  });
});

Deno.test("restoreThreadLocalState() with merge keeps what the state does not bind, also an unbound slot", () => {
  locale.run("fr", () => {
    restoreThreadLocalState(ann, { mode: "merge" });

    assertEquals([user.get(), locale.get(), maybe.isBound()], ["ann", "fr", false]);
  });
});

Deno.test("restoreThreadLocalState() with merge of a state that binds nothing changes nothing", () => {
  user.run("bob", () => {
    restoreThreadLocalState(ann.pick(), { mode: "merge" });

    assertEquals(user.get(), "bob");
  });
});

for (const mode of ["replace", "merge"] as const) {
  Deno.test(`restoreThreadLocalState() with ${mode} restores a bound undefined as a binding`, () => {
    const state = maybe.run(undefined, saveThreadLocalState);

    maybe.run("present", () => {
      restoreThreadLocalState(state, { mode });

      assertEquals([maybe.get(), maybe.isBound()], [undefined, true]);
    });
  });

  Deno.test(`restoreThreadLocalState() with ${mode} leaves the state as it was`, () => {
    user.run("bob", () => {
      restoreThreadLocalState(ann, { mode });
      user.set("changed");

      assertEquals(ann.get(user), "ann");
    });
  });
}

for (
  const [name, foreign] of Object.entries({
    undefined: undefined,
    null: null,
    "a plain object": {},
    "a frame": [1, 2, 3],
    "a string": "state",
    "a function": () => {},
    "a slot": user,
  })
) {
  Deno.test(`restoreThreadLocalState() rejects ${name} and changes nothing`, () => {
    user.run("bob", () => {
      assertThrows(
        () => restoreThreadLocalState(foreign as unknown as ThreadLocalState),
        TypeError,
        "Cannot restore a state",
      );

      assertEquals(user.get(), "bob");
    });
  });
}

for (const mode of ["merged", "", null, 1]) {
  Deno.test(`restoreThreadLocalState() rejects mode ${JSON.stringify(mode)} and changes nothing`, () => {
    user.run("bob", () => {
      assertThrows(
        () => restoreThreadLocalState(ann, { mode: mode as "merge" }),
        TypeError,
        `mode must be "replace" or "merge", got ${JSON.stringify(mode)}`,
      );

      assertEquals(user.get(), "bob");
    });
  });
}

// Run

testEverywhere("ThreadLocalState.run() runs in the state, and the previous frame is back", (at) => {
  const { slot, before, bound, value } = at;
  const state = saveThreadLocalState().with(slot, value);
  const outside = () => assertEquals([slot.get(), slot.isBound()], [before, bound]);

  const done = state.run(at.flow, function* () {
    assertEquals(slot.get(), value);
    yield;
    assertEquals(slot.get(), value);
    slot.set("set inside");
    yield;
  });

  outside();
  assertEquals(state.get(slot), value);
  return done?.then(outside);
});

testEverywhere("ThreadLocalState.run() with nothing bound unbinds", (at) => {
  const { slot, before } = at;

  const done = saveThreadLocalState().without(slot).run(at.flow, function* () {
    yield;
    assertEquals([slot.get(), slot.isBound()], ["initial", false]);
  });

  assertEquals(slot.get(), before);
  return done;
});

Deno.test("ThreadLocalState.run() passes arguments, no this, result and what fn throws", () => {
  const failure = new Error("inside");

  const got = ann.run(
    function (this: unknown, a: number, b: string) {
      return [this, a, b];
    },
    1,
    "b",
  );
  const caught = user.run("bob", () => {
    const caught = assertThrows(() =>
      ann.run(() => {
        throw failure;
      })
    );
    assertEquals(user.get(), "bob");
    return caught;
  });

  assertEquals(got, [undefined, 1, "b"]);
  assertStrictEquals(caught, failure);
});

Deno.test("ThreadLocalState.run() rejects what is not a function", () => {
  assertThrows(() => ann.run(undefined as never), TypeError, "expected a function");
});

Deno.test("ThreadLocalState.run() may be called many times, also at once", async () => {
  const seen = await Promise.all(["a", "b", "c"].map((value) =>
    ann.run(async () => {
      const first = user.get();
      user.set(value);
      await nextTurn();
      return [first, user.get()];
    })
  ));

  assertEquals(seen, [["ann", "a"], ["ann", "b"], ["ann", "c"]]);
});
