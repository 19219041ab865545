import { assertEquals } from "@std/assert";
import { bindIterator, type MisuseReport, onMisuse } from "@thread-local/core";
import { user } from "./_iterators.ts";

Deno.test("a guard open at a yield of a bound generator is reported and stays in the body", () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  const it = bindIterator(function* () {
    using _ = user.with("guarded");
    yield user.get();
    yield user.get();
  }());

  const consumer: string[] = [];
  const body: string[] = [];
  for (const name of it) {
    body.push(name);
    consumer.push(user.get());
  }

  assertEquals(reports.map(({ kind, key }) => [kind, key]), [["guard-across-yield", user.key]]);
  assertEquals(body, ["guarded", "guarded"]);
  assertEquals(consumer, ["nobody", "nobody"]);
});

Deno.test("a guard open at a yield ends in the body where its block ends", () => {
  using _ = onMisuse(() => {});
  const it = bindIterator(function* () {
    {
      using _ = user.with("guarded");
      yield user.get();
    }
    yield user.get();
  }());

  assertEquals([...it], ["guarded", "nobody"]);
});

Deno.test("a guard that is closed before the yield is not reported", () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  const it = bindIterator(function* () {
    {
      using _ = user.with("guarded");
    }
    yield user.get();
  }());

  assertEquals([...it], ["nobody"]);
  assertEquals(reports, []);
});

Deno.test("a guard left open when a bound generator ends is reported as left open", () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  const it = bindIterator(function* () {
    yield* [];
    void user.with("guarded")[Symbol.dispose];
  }());

  it.next();

  assertEquals(reports.map(({ kind }) => kind), ["guard-left-open"]);
});
