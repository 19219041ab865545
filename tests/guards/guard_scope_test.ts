import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  detached,
  type Guard,
  saveThreadLocalState,
  scoped,
  ThreadLocal,
} from "@thread-local/core";
import { shared } from "../../registry/shared.ts";
import { inTurnOfItsOwn, nextTurn } from "../fixtures/everywhere.ts";
import { Reports } from "../fixtures/misuse.ts";

const user = new ThreadLocal("guard_scope_test.user", { initial: "nobody" });
const locale = new ThreadLocal("guard_scope_test.locale", { initial: "en" });

/** Closes a guard that is open: what `using` does at the end of its block. */
const close = (guard: Disposable): void => guard[Symbol.dispose]();

/** Opens a guard as `using` does, and leaves closing it to the test. */
function open<G extends Disposable>(guard: G): G {
  new DisposableStack().use(guard);
  return guard;
}

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
