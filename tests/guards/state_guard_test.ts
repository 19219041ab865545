import { assertEquals, assertFalse, assertRejects, assertThrows } from "@std/assert";
import {
  restoreThreadLocalState,
  saveThreadLocalState,
  scoped,
  ThreadLocal,
  type ThreadLocalState,
  ThreadLocalStateGuard,
} from "@thread-local/core";
import { frameOf } from "../../registry/state.ts";
import { nextTurn, testEverywhere } from "../fixtures/everywhere.ts";
import { Reports } from "../fixtures/misuse.ts";

const user = new ThreadLocal("state_guard_test.user", { initial: "nobody" });
const locale = new ThreadLocal("state_guard_test.locale", { initial: "en" });
const reading = () => [user.get(), locale.get()];

const ann = user.run("ann", saveThreadLocalState);
const outside = user.run("bob", () => locale.run("de", saveThreadLocalState));

testEverywhere(
  "ThreadLocalStateGuard puts the state in the place of the current one for its block",
  (at) => {
    const { slot, before, bound, value } = at;
    using reports = new Reports();
    const state = saveThreadLocalState().with(slot, value);

    return at.flow(function* () {
      {
        using _ = new ThreadLocalStateGuard(state);
        assertEquals([slot.get(), slot.isBound()], [value, true]);
      }
      yield;
      assertEquals([slot.get(), slot.isBound()], [before, bound]);
      assertEquals(reports.take(), []);
    });
  },
);

testEverywhere(
  "ThreadLocalStateGuard.enter() holds for the rest of an async function",
  async (at) => {
    const { slot, before, bound, value } = at;
    using reports = new Reports();
    const state = saveThreadLocalState().with(slot, value);
    const outside = () => assertEquals([slot.get(), slot.isBound()], [before, bound]);

    const done = (async () => {
      {
        using _ = await ThreadLocalStateGuard.enter(state);
        await at.flow(function* () {
          yield;
          assertEquals(slot.get(), value);
        });
      }
      outside();
    })();
    outside();
    await done;

    outside();
    assertEquals(reports.take(), []);
  },
);

Deno.test("ThreadLocalStateGuard unbinds what the state does not bind", () => {
  locale.run("fr", () => {
    using _ = new ThreadLocalStateGuard(ann);

    assertEquals(reading(), ["ann", "en"]);
  });
});

for (
  const [name, unbalance] of Object.entries<() => void>({
    "set() of any slot": () => {
      user.set("bob");
      locale.set("de");
    },
    "clear()": () => user.clear(),
    "a restore of a state saved outside": () => restoreThreadLocalState(outside),
    "a restore of a state saved inside": () => restoreThreadLocalState(saveThreadLocalState()),
    "a restore with merge": () => restoreThreadLocalState(outside, { mode: "merge" }),
    "a guard left open": () => void new DisposableStack().use(locale.with("de")),
    "a state guard left open": () =>
      void new DisposableStack().use(new ThreadLocalStateGuard(ann.with(locale, "de"))),
  })
) {
  Deno.test(`ThreadLocalStateGuard brings the whole state back after ${name} inside`, async () => {
    using _ = new Reports();
    user.run("outer", () =>
      locale.run("fr", () => {
        {
          using _ = new ThreadLocalStateGuard(ann);
          unbalance();
        }
        assertEquals(reading(), ["outer", "fr"]);
      }));
    await nextTurn(); // which reports what was left open
  });

  Deno.test(`ThreadLocalStateGuard.enter() brings the whole state back after ${name} inside`, async () => {
    using _ = new Reports();
    await user.run("outer", () =>
      locale.run("fr", async () => {
        {
          using _ = await ThreadLocalStateGuard.enter(ann);
          await null;
          unbalance();
        }
        assertEquals(reading(), ["outer", "fr"]);
      }));
  });
}

Deno.test("ThreadLocalStateGuard closed before a guard inside it is reported, and nothing is resurrected", () => {
  using reports = new Reports();
  scoped(() => {
    const stack = [new DisposableStack(), new DisposableStack()];
    stack[0].use(new ThreadLocalStateGuard(ann));
    stack[1].use(locale.with("fr"));

    stack[0].dispose();
    assertEquals(reports.take(), [["guard-out-of-order", undefined]]);
    assertEquals(reading(), ["nobody", "en"]);
    stack[1].dispose();

    assertEquals(reading(), ["nobody", "en"]);
  });
});

Deno.test("ThreadLocalStateGuard inside a guard that is closed first: the guard's slot is unbound after both", () => {
  using reports = new Reports();
  scoped(() => {
    const stack = [new DisposableStack(), new DisposableStack()];
    stack[0].use(user.with("bob"));
    stack[1].use(new ThreadLocalStateGuard(ann));

    stack[0].dispose();
    assertEquals(user.get(), "ann");
    stack[1].dispose();

    assertFalse(user.isBound());
  });

  assertEquals(reports.take(), [["guard-out-of-order", user.key]]);
});

Deno.test("ThreadLocalStateGuard leaves the state as it was", () => {
  const frame = [...frameOf(ann, "look at")];

  scoped(() => {
    using _ = new ThreadLocalStateGuard(ann);
    user.set("bob");
    assertEquals(ann.get(user), "ann");
  });

  assertEquals([...frameOf(ann, "look at")], frame);
});

Deno.test("ThreadLocalStateGuard open across an await is reported without a key", async () => {
  using reports = new Reports();

  await Promise.resolve().then(async () => {
    using _ = new ThreadLocalStateGuard(ann);
    await null;
  });

  const [{ kind, key, message, stack }] = reports.all;
  assertEquals([kind, key], ["guard-across-await", undefined]);
  assertEquals(message.startsWith("The guard of a state was still open"), true);
  assertEquals(stack?.split("\n")[0].includes(import.meta.url), true);
});

Deno.test("ThreadLocalStateGuard.enter() names its caller as the place of its creation", async () => {
  using reports = new Reports();

  const guard = await ThreadLocalStateGuard.enter(ann);
  scoped(() => void new DisposableStack().use(guard));

  assertEquals(reports.all[0].stack?.split("\n")[0].includes(import.meta.url), true);
});

Deno.test("ThreadLocalStateGuard does nothing without using", async () => {
  using reports = new Reports();

  new ThreadLocalStateGuard(ann);
  await ThreadLocalStateGuard.enter(ann);
  await nextTurn();

  assertFalse(user.isBound());
  assertEquals(reports.take(), []);
});

Deno.test("ThreadLocalStateGuard that is closed cannot be used again", () => {
  const guard = new ThreadLocalStateGuard(ann);
  {
    using _ = guard;
  }

  assertThrows(
    () => {
      using _ = guard;
    },
    TypeError,
    "Cannot use the guard of a state again",
  );
});

for (const foreign of [undefined, null, {}, "state", () => {}, user]) {
  const state = foreign as unknown as ThreadLocalState;

  Deno.test(`ThreadLocalStateGuard rejects ${Deno.inspect(foreign).split("\n")[0]} as a state`, async () => {
    assertThrows(() => new ThreadLocalStateGuard(state), TypeError, "Cannot guard a state");
    await assertRejects(
      () => ThreadLocalStateGuard.enter(state),
      TypeError,
      "Cannot guard a state",
    );
  });
}
