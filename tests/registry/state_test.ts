import {
  assert,
  assertEquals,
  assertFalse,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  restoreThreadLocalState,
  saveThreadLocalState,
  ThreadLocal,
  ThreadLocalState,
} from "@thread-local/core/registry";
import { scoped } from "@thread-local/core/propagation";

const user = new ThreadLocal("state_test.user", { initial: "nobody" });
const locale = new ThreadLocal("state_test.locale", { initial: "en" });
const maybe = new ThreadLocal<string | undefined>("state_test.maybe", { initial: "initial" });

const ann = user.run("ann", saveThreadLocalState);
const annInFrench = ann.with(locale, "fr");

// Look and change

Deno.test("ThreadLocalState.get() and has() read the state, not the current flow", () => {
  user.run("bob", () => {
    assertEquals([ann.get(user), ann.has(user)], ["ann", true]);
    assertEquals([ann.get(locale), ann.has(locale)], ["en", false]);
  });
});

Deno.test("ThreadLocalState.with() makes a new state and leaves the old one", () => {
  const bob = ann.with(user, "bob");

  assertNotStrictEquals(bob, ann);
  assertEquals([bob.get(user), ann.get(user)], ["bob", "ann"]);
  assertEquals(bob.run(() => user.get()), "bob");
});

Deno.test("ThreadLocalState.with() of undefined binds undefined", () => {
  const state = ann.with(maybe, undefined);

  assertEquals([state.get(maybe), state.has(maybe)], [undefined, true]);
  assertEquals(state.run(() => [maybe.get(), maybe.isBound()]), [undefined, true]);
});

Deno.test("ThreadLocalState.without() makes a new state in which the slot is unbound", () => {
  const nobody = annInFrench.without(user);

  assertEquals([nobody.has(user), nobody.get(user), nobody.get(locale)], [false, "nobody", "fr"]);
  assert(annInFrench.has(user));
  assertEquals(nobody.without(user).size, 1);
});

Deno.test("ThreadLocalState.pick() and omit() part the bindings between them", () => {
  const [picked, rest] = [annInFrench.pick(user, maybe), annInFrench.omit(user, maybe)];

  assertEquals([...picked], [[user, "ann"]]);
  assertEquals([...rest], [[locale, "fr"]]);
  assertEquals(annInFrench.size, 2);
});

Deno.test("ThreadLocalState.pick() of nothing is empty, omit() of nothing is the same bindings", () => {
  assertEquals([...annInFrench.pick()], []);
  assertEquals([...annInFrench.omit()], [...annInFrench]);
});

Deno.test("ThreadLocalState.pick() takes a slot named twice once", () => {
  assertEquals([...ann.pick(user, user)], [[user, "ann"]]);
});

Deno.test("ThreadLocalState.size counts bindings, a bound undefined too", () => {
  const none = ann.pick();

  assertEquals([none.size, ann.size, annInFrench.size, none.with(maybe, undefined).size], [
    0,
    1,
    2,
    1,
  ]);
});

Deno.test("ThreadLocalState iterates in the order of declaration, with the slots themselves", () => {
  const state = ann.pick().with(maybe, undefined).with(locale, "fr").with(user, "ann");

  assertEquals([...state], [[user, "ann"], [locale, "fr"], [maybe, undefined]]);
  assertStrictEquals([...state][0][0], user);
  assertEquals([...state], [...state]);
});

const many = Array.from(
  { length: 100 },
  (_, i) => new ThreadLocal(`state_test.many ${i}`, { initial: -1 }),
);

Deno.test("ThreadLocalState of a hundred slots looks up, iterates, picks, omits and merges as one of two", () => {
  const all = many.reduce((state, slot, i) => state.with(slot, i), ann.pick());
  const even = many.filter((_, i) => i % 2 === 0);

  assertEquals([...all], many.map((slot, i) => [slot, i] as [ThreadLocal<unknown>, unknown]));
  assertEquals([all.size, all.pick(...even).size, all.omit(...even).size], [100, 50, 50]);
  many.forEach((slot, i) => {
    assertEquals(all.get(slot), i);
    assertEquals(all.pick(...even).has(slot), i % 2 === 0);
    assertEquals(all.omit(...even).has(slot), i % 2 === 1);
  });
  scoped(() => {
    for (const slot of many) slot.set(-2);
    restoreThreadLocalState(all.pick(...even), { mode: "merge" });
    many.forEach((slot, i) => assertEquals(slot.get(), i % 2 === 0 ? i : -2));
    restoreThreadLocalState(all.omit(...even));
    many.forEach((slot, i) => assertEquals(slot.get(), i % 2 === 0 ? -1 : i));
  });
});

for (
  const [name, foreign] of Object.entries({
    undefined: undefined,
    null: null,
    "a key": user.key,
    "an object with the key of a slot": { key: user.key },
    "an object with an unknown key": { key: "state_test.unknown" },
  })
) {
  Deno.test(`ThreadLocalState rejects ${name} in place of a slot`, () => {
    const slot = foreign as unknown as ThreadLocal<string>;

    for (
      const look of [
        () => ann.get(slot),
        () => ann.has(slot),
        () => ann.with(slot, "x"),
        () => ann.without(slot),
        () => ann.pick(user, slot),
        () => ann.omit(user, slot),
      ]
    ) {
      assertThrows(look, TypeError, "expected a ThreadLocal");
    }
  });
}

Deno.test("ThreadLocalState is an instance of its class, and no other object is", () => {
  assert(ann instanceof ThreadLocalState);
  assertFalse({} instanceof ThreadLocalState);
});
