import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { ThreadLocal } from "@thread-local/core";
import { nextTurn } from "../fixtures/everywhere.ts";
import { Reports } from "../fixtures/misuse.ts";

const user = new ThreadLocal("guard_close_test.user", { initial: "nobody" });
const locale = new ThreadLocal("guard_close_test.locale", { initial: "en" });

const reading = () => [user.get(), locale.get()];

/** Closes a guard that is open: what `using` does at the end of its block. */
const close = (guard: Disposable): void => guard[Symbol.dispose]();

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
    `Cannot use the guard of "guard_close_test.user" again: it is closed. Create a guard for each scope`,
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
