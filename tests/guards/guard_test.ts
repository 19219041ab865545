import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { detached, Guard, saveThreadLocalState, scoped, ThreadLocal } from "@thread-local/core";
import { restoreThreadLocalState } from "@thread-local/core/registry";
import { shared } from "../../registry/shared.ts";
import { inTurnOfItsOwn, nextTurn, testEverywhere } from "../fixtures/everywhere.ts";
import { Reports } from "../fixtures/misuse.ts";

const user = new ThreadLocal("guard_test.user", { initial: "nobody" });
const locale = new ThreadLocal("guard_test.locale", { initial: "en" });
const maybe = new ThreadLocal<string | undefined>("guard_test.maybe", { initial: "initial" });

const reading = () => [user.get(), locale.get()];

/** Closes a guard that is open: what `using` does at the end of its block. */
const close = (guard: Disposable): void => guard[Symbol.dispose]();

/** Opens a guard as `using` does, and leaves closing it to the test. */
function open<G extends Disposable>(guard: G): G {
  new DisposableStack().use(guard);
  return guard;
}

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

// Idempotence and reuse

Deno.test("Guard closed early is closed once: the end of the block does nothing", () => {
  using reports = new Reports();

  user.run("outer", () => {
    using guard = user.with("ann");
    close(guard);
    assertEquals(user.get(), "outer");
    user.set("set after");
    assertEquals(user.get(), "set after");
  });
  user.run("outer", () => {
    {
      using guard = user.with("ann");
      close(guard);
      user.set("set after");
    }
    assertEquals(user.get(), "set after");
  });

  assertEquals(reports.take(), []);
});

Deno.test("Guard's dispose function may be called many times", () => {
  const guard = user.with("ann");
  const dispose = guard[Symbol.dispose];
  assertEquals(user.get(), "ann");

  dispose.call(guard);
  user.run("bob", () => {
    dispose.call(guard);
    assertEquals(user.get(), "bob");
  });
  dispose.call(guard);

  assertEquals(user.get(), "nobody");
});

Deno.test("Guard that is closed cannot be used again: a TypeError, and nothing is bound", () => {
  const guard = user.with("ann");
  {
    using _ = guard;
  }

  const error = assertThrows(() => {
    using _ = guard;
  }, TypeError);

  assertEquals(
    error.message,
    `Cannot use the guard of "guard_test.user" again: it is closed. Create a guard for each scope`,
  );
  assertFalse(user.isBound());
});

Deno.test("Guard taken by two blocks closes at the end of the inner one", () => {
  using reports = new Reports();
  const guard = user.with("ann");
  {
    using _ = guard;
    {
      using _ = guard;
      assertEquals(user.get(), "ann");
    }
    assertFalse(user.isBound());
  }

  assertFalse(user.isBound());
  assertEquals(reports.take(), []);
});

// Stacks

Deno.test("Guard in a DisposableStack binds when it is taken, and the stack unbinds in reverse order", () => {
  using reports = new Reports();
  {
    using stack = new DisposableStack();
    const guard = user.with("ann");
    assertFalse(user.isBound());
    stack.use(guard);
    stack.use(locale.with("fr"));
    stack.use(user.with("bob"));
    assertEquals(reading(), ["bob", "fr"]);
  }

  assertEquals([user.isBound(), locale.isBound()], [false, false]);
  assertEquals(reports.take(), []);
});

Deno.test("Guard in a DisposableStack that was moved closes with the stack that has it", () => {
  const stack = new DisposableStack();
  stack.use(user.with("ann"));
  {
    using _ = stack.move();
    stack.dispose();
    assertEquals(user.get(), "ann");
  }

  assertFalse(user.isBound());
});

Deno.test("Guard under DisposableStack.adopt() or defer() never binds", () => {
  using reports = new Reports();
  {
    using stack = new DisposableStack();
    stack.adopt(user.with("ann"), close);
    stack.defer(() => close(user.with("bob")));
    assertFalse(user.isBound());
  }

  assertFalse(user.isBound());
  assertEquals(reports.take(), []);
});

Deno.test("Guards under await using close in the function that opened them", async () => {
  using reports = new Reports();

  const after = await (async () => {
    {
      await using _one = await user.enter("ann");
      await using _two = await locale.enter("fr");
      await null;
      assertEquals(reading(), ["ann", "fr"]);
    }
    return [user.isBound(), locale.isBound()];
  })();

  assertEquals(after, [false, false]);
  assertEquals(reports.take(), []);
});

Deno.test("Guard that an AsyncDisposableStack took last closes in the function that opened it", async () => {
  using reports = new Reports();

  const after = await (async () => {
    {
      await using stack = new AsyncDisposableStack();
      stack.use(await user.enter("ann"));
      await null;
      assertEquals(user.get(), "ann");
    }
    return user.isBound();
  })();

  assertFalse(after);
  assertEquals(reports.take(), []);
});

// The stack awaits between its resources, in a flow of its own: it closes only the last one here.
Deno.test("Guards in a DisposableStack that an AsyncDisposableStack took last all close", async () => {
  using reports = new Reports();

  const after = await (async () => {
    {
      await using stack = new AsyncDisposableStack();
      stack.defer(() => nextTurn());
      const guards = stack.use(new DisposableStack());
      guards.use(await user.enter("ann"));
      guards.use(await locale.enter("fr"));
      await null;
      assertEquals(reading(), ["ann", "fr"]);
    }
    return [user.isBound(), locale.isBound()];
  })();

  assertEquals(after, [false, false]);
  assertEquals(reports.take(), []);
});

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
    (_, i) => new ThreadLocal(`guard_test.overlap ${i}`, { initial: -1 }),
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

// Other flows, and scopes

Deno.test("Guard closed in a flow that is not inside it changes nothing, there or here, and does not throw", async () => {
  using reports = new Reports();
  let closeThere = (_: Disposable) => {};
  const there = new Promise<Disposable>((resolve) => closeThere = resolve).then((guard) => {
    user.set("there");
    close(guard);
    return user.get();
  });

  const here = await (async () => {
    using guard = await user.enter("ann");
    closeThere(guard);
    return [await there, user.get()];
  })();

  assertEquals(here, ["there", "ann"]);
  assertEquals(user.get(), "nobody");
  assertEquals(reports.take(), [["guard-elsewhere", user.key]]);
});

Deno.test("Guard closed in detached() changes nothing there and is reported", () => {
  using reports = new Reports();

  scoped(() => {
    const guard = open(user.with("ann"));
    detached(() => {
      close(guard);
      assertFalse(user.isBound());
    });
  });

  assertEquals(reports.take(), [["guard-elsewhere", user.key]]);
});

for (
  const [name, scope] of Object.entries({
    "run()": (fn: () => void) => locale.run("fr", fn),
    "ThreadLocalState.run()": (fn: () => void) => saveThreadLocalState().run(fn),
    "scoped()": (fn: () => void) => scoped(fn),
    "detached()": (fn: () => void) => detached(fn),
  })
) {
  Deno.test(`Guard left open in ${name} is reported at its return and does not reach the caller`, async () => {
    using reports = new Reports();

    scope(() => void open(user.with("ann")));

    assertFalse(user.isBound());
    assertEquals(reports.take(), [["guard-left-open", user.key]]);
    await nextTurn();
    assertEquals(reports.take(), []); // once
  });

  Deno.test(`Guard left open in ${name} by a throw is reported, and the throw goes on`, () => {
    using reports = new Reports();

    assertThrows(
      () =>
        scope(() => {
          open(user.with("ann"));
          throw new RangeError("inside");
        }),
      RangeError,
    );

    assertEquals(reports.take(), [["guard-left-open", user.key]]);
  });

  Deno.test(`Guard that an async function leaves open across an await in ${name} is reported`, async () => {
    using reports = new Reports();

    await scope(async () => {
      using _ = user.with("ann");
      await null;
    });

    assertFalse(user.isBound());
    assertEquals(reports.take(), [["guard-left-open", user.key]]);
  });

  Deno.test(`Guards that are opened and closed in ${name} are not reported`, async () => {
    using reports = new Reports();

    scope(() => {
      using _one = user.with("ann");
      scope(() => {
        using _two = user.with("bob");
      });
      using _three = locale.with("de");
    });
    await scope(async () => {
      using _ = await user.enter("ann");
      await null;
    });

    assertEquals(reports.take(), []);
  });

  if (name !== "detached()") {
    Deno.test(`Guard from outside that is closed inside ${name} is reported`, () => {
      using reports = new Reports();

      scoped(() => {
        const guard = open(user.with("ann"));
        scope(() => {
          close(guard);
          assertFalse(user.isBound());
        });
        assertEquals(reports.take(), [["guard-left-open", user.key]]);
      });
    });
  }
}

// Awaits and yields

Deno.test("Guard made by with() that is open across an await is reported with its creation stack", async () => {
  using reports = new Reports();

  await scopedAsync(async () => {
    using _ = user.with("ann");
    await null;
  });

  const [report, ...more] = reports.all;
  assertEquals([report.kind, report.key, more], ["guard-across-await", user.key, []]);
  assert(report.stack?.split("\n")[0].includes(import.meta.url));
  assert(report.message.includes(`"${user.key}"`));
});

/** Keeps what an async function leaks out of its first part from the test. */
async function scopedAsync(fn: () => Promise<unknown>): Promise<void> {
  await inTurnOfItsOwn(fn);
}

Deno.test("Guard made by with() that is open at a yield across turns is reported", async () => {
  using reports = new Reports();
  await scopedAsync(async () => {
    const steps = (function* () {
      using _ = user.with("ann");
      yield;
    })();
    steps.next();
    await null;
    steps.next();
  });

  assertEquals(reports.take(), [["guard-across-await", user.key]]);
});

Deno.test("Guards open across an await in one turn are each reported, once", async () => {
  using reports = new Reports();

  await scopedAsync(() =>
    Promise.all([user, locale, user].map(async (slot) => {
      using _ = slot.with("x");
      await nextTurn();
      await nextTurn();
    }))
  );

  const across = reports.take().filter(([kind]) => kind === "guard-across-await");
  assertEquals(across.map(([, key]) => key), [user.key, locale.key, user.key]);
});

Deno.test("Guard made by with() in one turn, closed in it, is not reported however many there are", async () => {
  using reports = new Reports();

  await Promise.all(Array.from({ length: 10 }, async () => {
    for (let i = 0; i < 10; i++) {
      {
        using _one = user.with("ann");
        using _two = locale.with("fr");
      }
      await null;
    }
  }));
  await nextTurn();

  assertEquals(reports.take(), []);
});

Deno.test("Guards of one turn are served by one microtask, and forgotten as they close", () => {
  const original = globalThis.queueMicrotask;
  const { turn } = shared<{ turn: Guard[] }>("guards", () => ({ turn: [] }));
  let microtasks = 0;
  globalThis.queueMicrotask = (callback) => {
    microtasks++;
    original(callback);
  };
  try {
    for (let i = 0; i < 100; i++) {
      using _one = user.with("ann");
      using _two = locale.with("fr");
    }
  } finally {
    globalThis.queueMicrotask = original;
  }

  assertEquals([microtasks, turn.length], [1, 0]);
});

Deno.test("Guard made by enter() may be open across any number of turns", async () => {
  using reports = new Reports();

  await (async () => {
    using _ = await user.enter("ann");
    for (let i = 0; i < 3; i++) await nextTurn();
    assertEquals(user.get(), "ann");
  })();

  assertEquals(reports.take(), []);
});

Deno.test("Guard open across an await: the listener hears of it in the guard's own state", async () => {
  const heard: [string | undefined, string][] = [];
  using reports = new Reports();
  const { onMisuse } = await import("@thread-local/core/guards");
  using _ = onMisuse(({ key }) => heard.push([key, user.get()]));

  await Promise.all(["ann", "bob"].map((name) =>
    user.run(name, () =>
      // A turn of its own, so that only the check of the turn can report it.
      Promise.resolve().then(async () => {
        using _ = locale.with("fr");
        await null;
      }))
  ));

  assertEquals(heard, [[locale.key, "ann"], [locale.key, "bob"]]);
  assertEquals(reports.take().length, 2);
});

// A generator's body runs on the stack of whoever calls next().
Deno.test("Guard made by enter() in an async generator and closed by the consumer's next() is reported", async () => {
  using reports = new Reports();
  async function* source() {
    using _ = await user.enter("ann");
    yield user.get();
  }

  const seen: string[] = [];
  for await (const value of source()) seen.push(value, user.get());

  assertEquals(seen, ["ann", "nobody"]);
  assertEquals(user.get(), "nobody");
  assertEquals(reports.take(), [["guard-elsewhere", user.key]]);
});
