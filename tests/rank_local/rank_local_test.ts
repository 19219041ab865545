import {
  assertEquals,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  currentThread,
  detached,
  DuplicateSlotError,
  fork,
  Node,
  RankLocal,
  saveThreadLocalState,
  ThreadLocal,
} from "@thread-local/core";
import { starts } from "../fixtures/starts.ts";

function counter(key: string): RankLocal<{ number: number }> {
  let made = 0;
  return new RankLocal(`rank_local_test.${key}`, () => ({ number: ++made }));
}

starts("RankLocal.get() returns one instance per thread", async () => {
  const local = counter(crypto.randomUUID());

  const first = local.get();
  const [second, third] = await Promise.all([fork(() => local.get()), fork(() => local.get())]);

  assertStrictEquals(local.get(), first);
  assertEquals(new Set([first, second, third]).size, 3);
});

Deno.test("RankLocal.get() is shared by the async work of a thread", async () => {
  const local = counter("async");

  const [before, after, sibling] = await fork(async () => {
    const before = local.get();
    await Promise.resolve();
    const [sibling] = await Promise.all([(async () => {
      await Promise.resolve();
      return local.get();
    })()]);
    return [before, local.get(), sibling];
  });

  assertStrictEquals(after, before);
  assertStrictEquals(sibling, before);
});

starts("RankLocal.get() inside a node returns the instance of its forward thread", async () => {
  const local = counter(crypto.randomUUID());
  const [own, node] = await fork(() => [local.get(), new Node("n", () => local.get())] as const);

  const found = await fork(() => node.evaluate());

  assertStrictEquals(found, own);
});

// PyTorch asks the thread's cached pointer before the node: it would return the evaluator's own.
Deno.test("RankLocal.get() asks the node before what the evaluating thread has cached", async () => {
  const local = counter("cached");
  const [forward, node] = await fork(() =>
    [local.get(), new Node("n", () => local.get())] as const
  );

  const [own, inNode, ownAgain] = await fork(() => [local.get(), node.evaluate(), local.get()]);

  assertStrictEquals(inNode, forward);
  assertNotStrictEquals(own, forward);
  assertStrictEquals(ownAgain, own);
});

Deno.test("RankLocal.get() inside a node creates the forward thread's instance if it has none", async () => {
  const local = counter("lazy");
  const node = await fork(() => new Node("n", () => local.get()));

  const created = node.evaluate();

  assertStrictEquals(node.evaluate(), created);
  assertNotStrictEquals(local.get(), created);
});

Deno.test("RankLocal.get() inside nested nodes follows the innermost, and the outer one after it", async () => {
  const local = counter("nested");
  const inner = await fork(() => new Node("inner", () => local.get()));
  const outer = await fork(() =>
    new Node("outer", () => [local.get(), inner.evaluate(), local.get()])
  );

  const [before, within, after] = outer.evaluate();

  assertStrictEquals(after, before);
  assertNotStrictEquals(within, before);
});

Deno.test("RankLocal.get() in a fork inside a node returns the fork's own instance", async () => {
  const local = counter("fork in node");
  const node = await fork(() =>
    new Node("n", () => [local.get(), fork(() => local.get())] as const)
  );

  const [forward, forked] = node.evaluate();

  assertNotStrictEquals(await forked, forward);
});

Deno.test("RankLocal creates an instance with its thread as the current one", async () => {
  const local = new RankLocal("rank_local_test.terms", () => currentThread().name);
  const node = await fork(() => new Node("n", () => local.get()), { name: "forward" });

  const name = await fork(() => node.evaluate(), { name: "engine" });

  assertEquals(name, "forward");
});

Deno.test("RankLocal creates an instance with the bindings of the work that asks", async () => {
  const rank = new ThreadLocal("rank_local_test.rank", { initial: -1 });
  const local = new RankLocal("rank_local_test.bindings", () => rank.get());

  const ranks = await Promise.all([0, 1].map((r) => rank.run(r, () => fork(() => local.get()))));

  assertEquals(ranks, [0, 1]);
});

Deno.test("RankLocal keeps nothing when create throws, and tries again", async () => {
  let tries = 0;
  const local = new RankLocal("rank_local_test.throws", () => {
    if (++tries === 1) throw new Error("not yet");
    return tries;
  });

  await fork(() => {
    assertThrows(() => local.get(), Error, "not yet");
    assertEquals(local.size, 0);
    assertEquals(local.get(), 2);
  });
});

Deno.test("RankLocal.get() inside its own create() is an error, not an endless recursion", () => {
  const local: RankLocal<number> = new RankLocal(
    "rank_local_test.recursion",
    (): number => local.get(),
  );

  assertThrows(() => local.get(), Error, '"rank_local_test.recursion"');
});

Deno.test("RankLocal holds an undefined instance: create is not called again", () => {
  let made = 0;
  const local = new RankLocal<undefined>("rank_local_test.undefined", () => void made++);

  assertEquals([local.get(), local.get()], [undefined, undefined]);
  assertEquals([made, local.size], [1, 1]);
});

Deno.test("RankLocal.findAcrossAll() finds another thread's instance", async () => {
  const local = new RankLocal("rank_local_test.find", () => ({ thread: currentThread().name }));
  const keep = await Promise.all(
    ["a", "b"].map((name) => fork(() => [local.get(), saveThreadLocalState()], { name })),
  );

  const found = local.findAcrossAll((instance) => instance.thread === "b");

  assertStrictEquals(found, keep[1][0]);
  assertEquals(local.findAcrossAll(() => false), undefined);
});

// PyTorch holds its lock while it calls back: creating an instance there deadlocks.
Deno.test("RankLocal.findAcrossAll() may create instances in its predicate", async () => {
  const local = counter("find creates");
  const other = counter("created meanwhile");
  const state = await fork(() => (local.get(), saveThreadLocalState()));

  local.findAcrossAll(() => {
    detached(() => local.get());
    other.get();
    return false;
  });

  assertEquals([local.size, other.size], [2, 1]);
  assertEquals(state.run(() => local.get().number), 1);
});

Deno.test("RankLocal is iterated in the order of creation", async () => {
  const local = counter("iteration");
  const state = await fork(() => (local.get(), saveThreadLocalState()), { name: "child" });
  local.get();

  const seen = [...local].map(([thread, { number }]) => [thread.name, number]);

  assertEquals(seen, [["child", 1], ["root", 2]]);
  assertEquals(state.run(() => local.get().number), 1);
});

Deno.test("RankLocal.delete() lets go of the instance that get() returns", async () => {
  const local = counter("delete");
  const [forward, node] = await fork(() =>
    [local.get(), new Node("n", () => [local.delete(), local.get()] as const)] as const
  );
  local.get();

  const [deleted, recreated] = node.evaluate();

  assertEquals([deleted, forward.number, local.get().number, recreated.number], [true, 1, 2, 3]);
  assertEquals(local.size, 2);
});

Deno.test("RankLocal.delete() is false where there is no instance", () => {
  assertEquals(counter("nothing to delete").delete(), false);
});

Deno.test("RankLocal refuses a second declaration, naming both places", () => {
  new RankLocal("rank_local_test.twice", () => 0);

  const error = assertThrows(
    () => new RankLocal("rank_local_test.twice", () => 0),
    DuplicateSlotError,
  );

  assertEquals(
    [error.firstSite, error.secondSite].every((site) => site.includes("rank_local_test.ts:")),
    true,
  );
});

Deno.test("RankLocal is one if both declarations say shared", () => {
  const first = new RankLocal("rank_local_test.shared", () => ({}), { shared: true });

  const second = new RankLocal("rank_local_test.shared", () => ({}), { shared: true });

  assertStrictEquals(second.get(), first.get());
});

Deno.test("RankLocal refuses an empty key and a create that is no function", () => {
  assertThrows(() => new RankLocal("", () => 0), TypeError, "empty");
  assertThrows(
    () => new RankLocal("rank_local_test.bad", 3 as never),
    TypeError,
    "rank_local_test.bad",
  );
});

Deno.test("Thread.end() disposes instances, last declared first, and only once", async () => {
  const order: string[] = [];
  const disposable = (name: string, dispose: symbol) => ({
    [dispose]: () => void order.push(name),
  });
  const a = new RankLocal("rank_local_test.end a", () => disposable("a", Symbol.dispose));
  const b = new RankLocal("rank_local_test.end b", () => disposable("b", Symbol.asyncDispose));

  await fork(async () => {
    b.get();
    a.get();
    await currentThread().end();
    await currentThread().end();
  });

  assertEquals(order, ["b", "a"]);
  assertEquals([a.size, b.size], [0, 0]);
});

Deno.test("Thread.end() disposes all, and rejects with what threw", async () => {
  const a = new RankLocal("rank_local_test.end ok", () => ({
    disposed: false,
    [Symbol.dispose]() {
      this.disposed = true;
    },
  }));
  const b = new RankLocal("rank_local_test.end throws", () => ({
    [Symbol.dispose]() {
      throw new Error("stuck");
    },
  }));

  await fork(async () => {
    const instance = a.get();
    b.get();
    const error = await assertRejects(() => currentThread().end(), AggregateError);
    assertEquals([instance.disposed, (error.errors[0] as Error).message], [true, "stuck"]);
  });
});

Deno.test("RankLocal.get() for an ended thread is an error that names the key and the thread", async () => {
  const local = counter("ended");

  await fork(async () => {
    await currentThread().end();
    assertThrows(() => local.get(), Error, 'thread "short"');
  }, { name: "short" });
});
