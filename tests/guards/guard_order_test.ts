import { assertEquals, assertFalse } from "@std/assert";
import { saveThreadLocalState, scoped, ThreadLocal } from "@thread-local/core";
import { restoreThreadLocalState } from "@thread-local/core/registry";
import { Reports } from "../fixtures/misuse.ts";

const user = new ThreadLocal("guard_order_test.user", { initial: "nobody" });
const locale = new ThreadLocal("guard_order_test.locale", { initial: "en" });
const maybe = new ThreadLocal<string | undefined>("guard_order_test.maybe", { initial: "initial" });

const reading = () => [user.get(), locale.get()];

/** Closes a guard that is open: what `using` does at the end of its block. */
const close = (guard: Disposable): void => guard[Symbol.dispose]();

/** Opens a guard as `using` does, and leaves closing it to the test. */
function open<G extends Disposable>(guard: G): G {
  new DisposableStack().use(guard);
  return guard;
}

// Out of order

Deno.test("Guard closed out of order undoes its own slot and leaves the inner guard's", () => {
  using reports = new Reports();
  const [outer, inner] = [open(user.with("ann")), open(locale.with("fr"))];

  close(outer);
  assertEquals([user.isBound(), locale.get()], [false, "fr"]);
  assertEquals(reports.take(), [["guard-out-of-order", user.key]]);
  close(inner);

  assertEquals([user.isBound(), locale.isBound()], [false, false]);
  assertEquals(reports.take(), []);
});

Deno.test("Guard closed out of order on one slot: the inner value stays, then nothing is resurrected", () => {
  using reports = new Reports();
  const [outer, inner] = [open(user.with("ann")), open(user.with("bob"))];

  close(outer);
  assertEquals(user.get(), "bob");
  assertEquals(reports.take(), [["guard-out-of-order", user.key]]);
  close(inner);

  assertFalse(user.isBound());
  assertEquals(reports.take(), []);
});

Deno.test("Guard closed out of order on one slot gives back what was bound outside both", () => {
  using _ = new Reports();

  user.run("outside", () => {
    const [outer, inner] = [open(user.with("ann")), open(user.with("bob"))];
    close(outer);
    assertEquals(user.get(), "bob");
    close(inner);
    assertEquals(user.get(), "outside");
  });
});

for (const order of permutations([0, 1, 2, 3])) {
  Deno.test(`Guards of two slots closed in the order ${order}: both unbound after, whoever is open is seen`, () => {
    using _ = new Reports();
    const guards = [user.with("0"), locale.with("1"), user.with("2"), locale.with("3")].map(open);
    const isOpen = [true, true, true, true];

    for (const i of order) {
      close(guards[i]);
      isOpen[i] = false;
      assertEquals(
        [user.get(), locale.get()],
        [
          isOpen[2] ? "2" : isOpen[0] ? "0" : "nobody",
          isOpen[3] ? "3" : isOpen[1] ? "1" : "en",
        ],
      );
    }

    assertEquals([user.isBound(), locale.isBound()], [false, false]);
  });
}

function permutations(items: number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) =>
    permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest])
  );
}

Deno.test("Guard closed out of order leaves a third slot, bound by set() in between, alone", () => {
  using _ = new Reports();
  scoped(() => {
    const outer = open(user.with("ann"));
    maybe.set("set");
    const inner = open(locale.with("fr"));
    close(outer);
    close(inner);

    assertEquals([user.isBound(), locale.isBound(), maybe.get()], [false, false, "set"]);
  });
});

Deno.test("Guards of a hundred slots closed in the order of opening all unbind", () => {
  using reports = new Reports();
  const slots = Array.from(
    { length: 100 },
    (_, i) => new ThreadLocal(`guard_order_test.overlap ${i}`, { initial: -1 }),
  );
  const guards = slots.map((slot, i) => open(slot.with(i)));

  guards.forEach((guard, closed) => {
    close(guard);
    slots.forEach((slot, i) => assertEquals(slot.get(), i > closed ? i : -1));
  });

  assertEquals(saveThreadLocalState().size, 0);
  assertEquals(reports.take().length, 99);
});

// What is bound inside without a guard

Deno.test("Guard undoes what set() made of its slot inside", () => {
  using reports = new Reports();
  scoped(() => {
    {
      using _ = user.with("ann");
      user.set("bob");
      assertEquals(user.get(), "bob");
    }
    assertFalse(user.isBound());
  });

  assertEquals(reports.take(), []);
});

Deno.test("Guard leaves what set() made of another slot inside", () => {
  using reports = new Reports();
  scoped(() => {
    {
      using _ = user.with("ann");
      locale.set("fr");
    }
    assertEquals([user.isBound(), locale.get()], [false, "fr"]);
  });

  assertEquals(reports.take(), []);
});

Deno.test("Guard restores the outer binding after clear() inside", () => {
  user.run("outer", () => {
    {
      using _ = user.with("ann");
      user.clear();
      assertFalse(user.isBound());
    }
    assertEquals(user.get(), "outer");
  });
});

for (const mode of ["replace", "merge"] as const) {
  Deno.test(`Guard undoes its slot after a restore with ${mode} inside, and leaves the rest of it`, () => {
    using reports = new Reports();
    const state = user.run("bob", () => locale.run("fr", saveThreadLocalState));

    user.run("outer", () => {
      {
        using _ = user.with("ann");
        restoreThreadLocalState(state, { mode });
        assertEquals(reading(), ["bob", "fr"]);
      }
      assertEquals(reading(), ["outer", "fr"]);
    });

    assertEquals(reports.take(), []);
  });
}

Deno.test("Guard undoes its slot after the restore of a state that was saved inside it", () => {
  using reports = new Reports();
  scoped(() => {
    {
      using _ = user.with("ann");
      const state = saveThreadLocalState();
      user.set("bob");
      restoreThreadLocalState(state);
      assertEquals(user.get(), "ann");
    }
    assertFalse(user.isBound());
  });

  assertEquals(reports.take(), []);
});
