import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { Guard, ThreadLocal } from "@thread-local/core";
import { nextTurn, testEverywhere } from "../fixtures/everywhere.ts";
import { Reports } from "../fixtures/misuse.ts";

const user = new ThreadLocal("guard_test.user", { initial: "nobody" });
const locale = new ThreadLocal("guard_test.locale", { initial: "en" });
const maybe = new ThreadLocal<string | undefined>("guard_test.maybe", { initial: "initial" });

// Open and close

testEverywhere("ThreadLocal.with() binds for its block and unbinds at the end", (at) => {
  const { slot, before, bound, value } = at;
  using reports = new Reports();

  return at.flow(function* () {
    {
      using _ = slot.with(value);
      assertEquals([slot.get(), slot.isBound()], [value, true]);
      {
        using _ = slot.with(`${value} inside`);
        assertEquals(slot.get(), `${value} inside`);
      }
      assertEquals(slot.get(), value);
    }
    yield;
    assertEquals([slot.get(), slot.isBound()], [before, bound]);
    assertEquals(reports.take(), []);
  });
});

testEverywhere("ThreadLocal.with() unbinds when the block throws", (at) => {
  const { slot, before, bound, value } = at;

  assertThrows(
    () => {
      using _ = slot.with(value);
      throw new RangeError("inside");
    },
    RangeError,
  );

  assertEquals([slot.get(), slot.isBound()], [before, bound]);
});

testEverywhere("ThreadLocal.enter() binds for the rest of an async function", async (at) => {
  const { slot, before, bound, value } = at;
  using reports = new Reports();
  const seen: unknown[] = [];

  const work = async () => {
    using _ = await slot.enter(value);
    await at.flow(function* () {
      yield;
      seen.push(slot.get());
    });
    {
      using _ = await slot.enter(`${value} inside`);
      await null;
      seen.push(slot.get());
    }
    seen.push(slot.get());
  };
  const done = work();
  assertEquals([slot.get(), slot.isBound()], [before, bound]);
  await done;

  assertEquals(seen, [value, `${value} inside`, value]);
  assertEquals([slot.get(), slot.isBound()], [before, bound]);
  assertEquals(reports.take(), []);
});

testEverywhere("ThreadLocal.enter() unbinds when the async function throws", async (at) => {
  const { slot, before, bound, value } = at;

  const outcome = await (async () => {
    using _ = await slot.enter(value);
    await null;
    throw new RangeError("inside");
  })().catch((error) => [error.name, slot.get(), slot.isBound()]);

  assertEquals(outcome, ["RangeError", before, bound]);
  assertEquals([slot.get(), slot.isBound()], [before, bound]);
});

testEverywhere(
  "ThreadLocal.enter() unbinds within the async function, at the end of the block",
  async (at) => {
    const { slot, before, bound, value } = at;

    await (async () => {
      for (let i = 0; i < 3; i++) {
        assertEquals([slot.get(), slot.isBound()], [before, bound]);
        using _ = await slot.enter(`${value} ${i}`);
        await null;
        assertEquals(slot.get(), `${value} ${i}`);
      }
      assertEquals([slot.get(), slot.isBound()], [before, bound]);
    })();
  },
);

Deno.test("ThreadLocal.enter() does not leak to Promise.all siblings, before or after them", async () => {
  const seen: string[] = [];
  const reader = async () => {
    seen.push(user.get());
    await null;
    seen.push(user.get());
    await nextTurn();
    seen.push(user.get());
  };

  await Promise.all([
    reader(),
    (async () => {
      using _ = await user.enter("ann");
      await nextTurn();
    })(),
    (async () => {
      using _ = await user.enter("bob");
      throw new Error("inside");
    })().catch(() => {}),
    reader(),
  ]);

  assertEquals(seen, new Array(6).fill("nobody"));
});

Deno.test("ThreadLocal.enter() across awaits of other flows that enter: each reads its own", async () => {
  const flows = Array.from({ length: 50 }, async (_, i) => {
    using _guard = await user.enter(`user ${i}`);
    const seen = [];
    for (let step = 0; step < i % 5; step++) {
      await (step % 2 ? nextTurn() : null);
      seen.push(user.get());
    }
    return seen.every((value) => value === `user ${i}`);
  });

  assert((await Promise.all(flows)).every(Boolean));
  assertEquals(user.get(), "nobody");
});

Deno.test("Guard does nothing at all without using", async () => {
  using reports = new Reports();

  const guards = [user.with("ann"), await user.enter("bob")];
  for (const guard of guards) {
    assert(guard instanceof Guard);
    // Whatever looks at an object must not open it.
    assert(Symbol.dispose in guard);
    Object.assign({}, guard);
    Deno.inspect(guard);
    JSON.stringify(guard);
    assertEquals(guard, guard);
  }
  await nextTurn();

  assertFalse(user.isBound());
  assertEquals(reports.take(), []);
});

Deno.test("Guard of a bound undefined binds undefined", () => {
  using _ = maybe.with(undefined);

  assertEquals([maybe.get(), maybe.isBound()], [undefined, true]);
});

Deno.test("Guard: a slot that was unbound before is unbound after, one that was bound undefined is that", () => {
  {
    using _ = maybe.with("inside");
  }
  assertFalse(maybe.isBound());

  maybe.run(undefined, () => {
    {
      using _ = maybe.with("inside");
    }
    assertEquals([maybe.get(), maybe.isBound()], [undefined, true]);
  });
});

Deno.test("Guard: work begun inside keeps its value when the guard has closed", async () => {
  let seen: Promise<string[]>;
  {
    using _ = user.with("ann");
    seen = (async () => {
      const before = user.get();
      await nextTurn();
      return [before, user.get()];
    })();
  }
  assertEquals(user.get(), "nobody");

  assertEquals(await seen, ["ann", "ann"]);
});

Deno.test("Guard: work begun inside an async guard keeps its value when the guard has closed", async () => {
  let seen: Promise<string> | undefined;
  await (async () => {
    using _ = await user.enter("ann");
    seen = nextTurn().then(() => user.get());
  })();

  assertEquals(await seen, "ann");
});

Deno.test("Guard: work begun inside it that goes on after it closed may use guards as any other", async () => {
  using reports = new Reports();
  let seen: Promise<unknown[]> | undefined;
  await (async () => {
    using _ = await user.enter("ann");
    seen = nextTurn().then(() =>
      locale.run("fr", () => {
        const inside = [];
        {
          using _ = user.with("bob");
          inside.push(user.get());
        }
        return [...inside, user.get()];
      })
    );
  })();

  assertEquals(await seen, ["bob", "ann"]);
  assertEquals(reports.take(), []);
});
