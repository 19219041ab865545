import { assertEquals } from "@std/assert";
import { bindIterator, type MisuseReport, onMisuse } from "@thread-local/core";
import { readsAsync, user } from "./_iterators.ts";

Deno.test("a bound async generator keeps what it binds before the first await of a step", async () => {
  const it = bindIterator(async function* () {
    user.set("body");
    await new Promise((resolve) => setTimeout(resolve));
    yield user.get();
    yield user.get();
    await new Promise((resolve) => setTimeout(resolve));
    yield user.get();
  }());

  const seen = await user.run("bob", async () => {
    const seen = [];
    for await (const name of it) seen.push([name, user.get()]);
    return seen;
  });

  assertEquals(seen, [["body", "bob"], ["body", "bob"], ["body", "bob"]]);
});

Deno.test("what a bound async generator binds after an await of a step ends at its yield", async () => {
  const it = user.run("ann", () =>
    bindIterator(async function* () {
      await Promise.resolve();
      user.set("body");
      yield user.get();
      yield user.get();
    }()));

  assertEquals(await Array.fromAsync(it), ["body", "ann"]);
});

Deno.test("steps of a bound async generator that are asked for at once all run in its state", async () => {
  const it = user.run("ann", () => bindIterator(readsAsync(3)));

  const seen = await Promise.all([it.next(), it.next(), it.next(), it.next()]);

  assertEquals(seen.map(({ value }) => value), ["ann", "ann", "ann", "returned to ann"]);
});

Deno.test("a step that is asked for while a later one than the last still runs has its state", async () => {
  const it = user.run("ann", () => bindIterator(readsAsync(3)));

  const [first, second] = [it.next(), it.next()];
  await first;
  const third = it.next();

  assertEquals([(await second).value, (await third).value], ["ann", "ann"]);
});

Deno.test("steps of a bound async generator that are asked for at once keep their order when one fails", async () => {
  const it = bindIterator(async function* () {
    await Promise.resolve();
    yield 1;
    throw new RangeError("of the body");
  }());

  const seen = await Promise.allSettled([
    it.next(),
    it.next(),
    it.return(undefined as never),
    it.next(),
  ]);

  assertEquals(seen.map(({ status }) => status), [
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
});

Deno.test("a synchronous guard across an await of a bound async generator ends at the step", async () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  const it = bindIterator(async function* () {
    {
      using _ = user.with("guarded");
      await Promise.resolve();
    }
    yield user.get();
    yield user.get();
  }());

  assertEquals(await Array.fromAsync(it), ["nobody", "nobody"]);
  assertEquals(reports.map(({ kind }) => kind), ["guard-left-open"]);
});

Deno.test("disposing of a bound async generator ends it in its state", async () => {
  const seen: string[] = [];
  const it = user.run("ann", () =>
    bindIterator(async function* () {
      try {
        yield 1;
      } finally {
        await Promise.resolve();
        seen.push(user.get());
      }
    }()));
  await it.next();

  await it[Symbol.asyncDispose]();

  assertEquals(seen, ["ann"]);
});

Deno.test("an async iterator that takes several requests at once still gets them at once", async () => {
  let open = 0;
  let most = 0;
  const it = bindIterator<AsyncIterator<number>>({
    async next() {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve));
      return { done: false, value: open-- };
    },
  });

  await Promise.all([it.next(), it.next()]);

  assertEquals(most, 2);
});
