import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { bindThreadLocalState, type MisuseReport, onMisuse, ThreadLocal } from "@thread-local/core";
import PQueue from "p-queue";
import { flows, starts } from "./_starts.ts";

const user = new ThreadLocal("bind_test.user", { initial: "nobody" });
const read = () => user.get();

for (const [start, begin] of Object.entries(starts)) {
  for (const [flow, go] of Object.entries(flows)) {
    Deno.test(`bindThreadLocalState() restores what was bound at the wrapping, from ${start}, ${flow}`, async () => {
      await begin(async () => {
        const bound = user.run("ann", () => bindThreadLocalState(read));

        const seen = await user.run("bob", () => go(bound, () => user.set("sibling")));

        assertEquals(seen, "ann");
        assertEquals(user.get(), "nobody");
      });
    });

    Deno.test(`bindThreadLocalState() restores that nothing was bound, from ${start}, ${flow}`, async () => {
      const bound = begin(() => bindThreadLocalState(() => user.isBound()));

      const seen = await user.run("bob", () => go(bound, () => user.set("sibling")));

      assertEquals(seen, false);
    });
  }
}

Deno.test("a bound function keeps its state across its own awaits", async () => {
  const bound = user.run("ann", () =>
    bindThreadLocalState(async () => {
      await new Promise((resolve) => setTimeout(resolve));
      return user.get();
    }));

  const seen = await user.run("bob", bound);

  assertEquals(seen, "ann");
});

Deno.test("a bound function reads the initial value of a slot declared after the wrapping", () => {
  const bound = bindThreadLocalState(() => late.get());
  const late = new ThreadLocal("bind_test.late", { initial: "initial" });

  const seen = late.run("bound", () => bound());

  assertEquals(seen, "initial");
});

Deno.test("a bound function can be called many times, each time in the same state", () => {
  const bound = user.run("ann", () =>
    bindThreadLocalState(() => {
      const before = user.get();
      user.set("left by an earlier call");
      return before;
    }));

  const seen = [bound(), bound(), bound()];

  assertEquals(seen, ["ann", "ann", "ann"]);
});

Deno.test("a bound function leaves the caller's bindings alone", () => {
  const bound = bindThreadLocalState(() => user.set("inside"));

  user.run("bob", () => {
    bound();

    assertEquals(user.get(), "bob");
  });
});

Deno.test("a bound function passes this, arguments and the result through", () => {
  const bound = bindThreadLocalState(function (this: unknown, ...args: unknown[]) {
    return [this, ...args];
  });
  const self = {};

  const result = bound.call(self, 1, "two");

  assertStrictEquals(result[0], self);
  assertEquals(result.slice(1), [1, "two"]);
});

Deno.test("a bound function that throws brings the caller's state back, and the error out", () => {
  const error = new RangeError("of the function");
  const bound = bindThreadLocalState((): void => {
    throw error;
  });

  user.run("bob", () => {
    assertStrictEquals(assertThrows(() => bound()), error);
    assertEquals(user.get(), "bob");
  });
});

Deno.test("a bound async function rejects with what it rejects with", async () => {
  const bound = bindThreadLocalState(() => Promise.reject(new RangeError("of the function")));

  await assertRejects(() => bound(), RangeError, "of the function");
});

Deno.test("a bound function has the length, name and properties of its function", () => {
  function add(a: number, b: number) {
    return a + b;
  }
  add.unit = "m";

  const bound = bindThreadLocalState(add);

  assertEquals([bound.length, bound.name, bound.unit], [2, "add", "m"]);
});

Deno.test("a bound function has the type of its function", () => {
  const bound = bindThreadLocalState((text: string, times = 1): number => text.length * times);

  assertType<IsExact<typeof bound, (text: string, times?: number) => number>>(true);
  // @ts-expect-error -- a number is no text.
  assertThrows(() => bindThreadLocalState((text: string) => text.trim())(1));
});

Deno.test("a bound class constructs in its state", () => {
  class Request {
    readonly by = user.get();
    constructor(readonly path: string) {}
  }
  const Bound = user.run("ann", () => bindThreadLocalState(Request as never)) as typeof Request;

  const request = new Bound("/");

  assertInstanceOf(request, Request);
  assertEquals([request.by, request.path], ["ann", "/"]);
});

Deno.test("a function that is bound twice is called in the state of the first time", () => {
  const first = user.run("ann", () => bindThreadLocalState(read));
  const second = user.run("bob", () => bindThreadLocalState(first));

  assertEquals(second(), "ann");
});

Deno.test("a bound function that leaves a guard open is reported", () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  const bound = bindThreadLocalState(() => void user.with("left open")[Symbol.dispose]);

  bound();

  assertEquals(reports.map(({ kind, key }) => [kind, key]), [["guard-left-open", user.key]]);
  assertEquals(user.get(), "nobody");
});

Deno.test("bindThreadLocalState() rejects what is not a function", () => {
  for (const bad of [undefined, null, {}, "text"]) {
    assertThrows(
      () => bindThreadLocalState(bad as never),
      TypeError,
      "Cannot bind the state: expected a function",
    );
  }
});

Deno.test("a bound callback sees the state, completed inline or from another flow", async () => {
  const completions: string[] = [];
  let complete = () => {};

  user.run("ann", () => {
    const callback = bindThreadLocalState(() => void completions.push(user.get()));
    callback();
    complete = callback;
  });
  await user.run("bob", async () => {
    await new Promise((resolve) => setTimeout(resolve));
    complete();
  });

  assertEquals(completions, ["ann", "ann"]);
});

Deno.test("a job that outlives the guard it was bound in still sees what the guard bound", () => {
  let job = () => "";
  {
    using _ = user.with("ann");
    job = bindThreadLocalState(read);
  }

  assertEquals(job(), "ann");
});

Deno.test("p-queue runs a bound job in the state of who enqueued it, not of who freed the slot", async () => {
  const queue = new PQueue({ concurrency: 1 });
  const users = ["ann", "bob", "cay", "dan"];

  const unbound = await Promise.all(
    users.map((name) => user.run(name, () => queue.add(async () => (await null, user.get())))),
  );
  const bound = await Promise.all(
    users.map((name) =>
      user.run(
        name,
        () => queue.add(bindThreadLocalState(async () => (await null, user.get()))),
      )
    ),
  );

  assert(unbound.some((seen, index) => seen !== users[index]), "p-queue keeps the state by itself");
  assertEquals(bound, users);
});
