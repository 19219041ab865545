import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { bindIterator } from "@thread-local/core";
import { flows, starts } from "./_starts.ts";
import { bare, reads, readsAsync, user } from "./_iterators.ts";

for (const [start, begin] of Object.entries(starts)) {
  for (const [flow, go] of Object.entries(flows)) {
    Deno.test(`bindIterator() runs each step in the state of the binding, from ${start}, ${flow}`, async () => {
      await begin(async () => {
        const it = user.run("ann", () => bindIterator(reads(2)));

        const seen = await user.run("bob", async () => [
          (await go(() => it.next(), () => user.set("sibling"))).value,
          (await go(() => it.next(), () => user.set("sibling"))).value,
        ]);

        assertEquals(seen, ["ann", "ann"]);
      });
    });
  }

  Deno.test(`bindIterator() restores that nothing was bound, from ${start}`, () => {
    const it = begin(() => bindIterator(reads(1)));

    assertEquals(user.run("bob", () => [...it]), ["nobody"]);
  });

  Deno.test(`an async generator runs in the state of its binding, from ${start}`, async () => {
    await begin(async () => {
      const it = user.run("ann", () => bindIterator(readsAsync(2)));

      const seen = await user.run("bob", () => Array.fromAsync(it));

      assertEquals(seen, ["ann", "ann"]);
    });
  });
}

Deno.test("an unbound generator runs in the state of whoever calls next()", () => {
  const it = user.run("ann", () => reads(1));

  assertEquals(user.run("bob", () => [...it]), ["bob"]);
});

Deno.test("a bound generator keeps between its steps what its body binds", () => {
  const it = bindIterator(function* () {
    for (const name of ["ann", "bob"]) {
      const before = user.get();
      user.set(name);
      yield before;
    }
    yield user.get();
  }());

  assertEquals([...it], ["nobody", "ann", "bob"]);
});

Deno.test("a bound generator does not show its consumer what its body binds", () => {
  const it = bindIterator(function* () {
    user.set("body");
    yield 1;
    user.set("later");
    yield 2;
  }());

  user.run("bob", () => {
    const seen = [];
    for (const _ of it) seen.push(user.get());

    assertEquals([...seen, user.get()], ["bob", "bob", "bob"]);
  });
});

Deno.test("a bound generator does not see what its consumer binds between steps", () => {
  const it = bindIterator(reads(2));

  const seen = user.run("bob", () => {
    const first = it.next().value;
    user.set("consumer");
    return [first, it.next().value];
  });

  assertEquals(seen, ["nobody", "nobody"]);
});

Deno.test("two bound generators keep apart what they bind", () => {
  function* body(name: string) {
    user.set(name);
    yield;
    yield user.get();
  }
  const ann = bindIterator(body("ann"));
  const bob = bindIterator(body("bob"));

  ann.next();
  bob.next();

  assertEquals([ann.next().value, bob.next().value], ["ann", "bob"]);
});

Deno.test("return() runs the finally of a bound generator in its state, and gives its value", () => {
  const seen: string[] = [];
  const it = user.run("ann", () =>
    bindIterator(function* () {
      try {
        yield 1;
      } finally {
        seen.push(user.get());
      }
    }()));
  it.next();

  const result = it.return();

  assertEquals(seen, ["ann"]);
  assertEquals(result.done, true);
});

Deno.test("a loop that breaks ends a bound generator in its state", () => {
  const seen: string[] = [];
  const it = user.run("ann", () =>
    bindIterator(function* () {
      try {
        yield 1;
      } finally {
        seen.push(user.get());
      }
    }()));

  for (const _ of it) break;

  assertEquals(seen, ["ann"]);
});

Deno.test("throw() throws into a bound generator in its state", () => {
  const it = user.run("ann", () =>
    bindIterator(function* () {
      try {
        yield "first";
      } catch (error) {
        yield `${error} seen by ${user.get()}`;
      }
    }()));
  it.next();

  assertEquals(it.throw("thrown").value, "thrown seen by ann");
});

Deno.test("next() passes its value, the result and an error of a bound generator through", () => {
  const it = bindIterator(function* (): Generator<number, string, number> {
    const given: number = yield 1;
    yield given;
    return "end";
  }());

  assertEquals([it.next(), it.next(7), it.next()], [
    { done: false, value: 1 },
    { done: false, value: 7 },
    { done: true, value: "end" },
  ]);
  const failing = bindIterator(function* () {
    yield 1;
    throw new RangeError("of the body");
  }());
  assertThrows(() => [...failing], RangeError, "of the body");
});

Deno.test("a step that throws brings the consumer's state back", () => {
  const it = bindIterator(function* () {
    user.set("body");
    yield* [];
    throw new Error("of the body");
  }());

  user.run("bob", () => {
    assertThrows(() => it.next());
    assertEquals(user.get(), "bob");
  });
});

Deno.test("disposing of a bound generator ends it in its state", () => {
  const seen: string[] = [];
  const it = user.run("ann", () =>
    bindIterator(function* () {
      try {
        yield 1;
      } finally {
        seen.push(user.get());
      }
    }()));
  it.next();

  it[Symbol.dispose]();

  assertEquals(seen, ["ann"]);
  assertEquals(it.next().done, true);
});

Deno.test("a bound iterator uses its iterator's own disposal", () => {
  class Cursor implements Iterator<string> {
    #closedBy = "";
    next = () => ({ done: true, value: this.#closedBy }) as const;
    [Symbol.dispose]() {
      this.#closedBy = user.get();
    }
  }
  const it = user.run("ann", () => bindIterator(new Cursor())) as Iterator<string> & Disposable;

  it[Symbol.dispose]();

  assertEquals(it.next().value, "ann");
});

Deno.test("a bound iterator has no methods that its iterator lacks", () => {
  const it = bindIterator(bare());

  assertEquals(["return", "throw", Symbol.dispose].map((name) => name in it), [
    false,
    false,
    false,
  ]);
});

Deno.test("a bound iterator of the language has its helpers, in the state of the binding", () => {
  const it = user.run("ann", () => bindIterator(reads(3)));

  const seen = user.run("bob", () => it.take(2).map((name) => [name, user.get()]).toArray());

  assertEquals(seen, [["ann", "bob"], ["ann", "bob"]]);
});

Deno.test("a bound iterator is its own iterable", () => {
  const sync = bindIterator(reads(1));
  const async = bindIterator(readsAsync(1));

  assertStrictEquals(sync[Symbol.iterator](), sync);
  assertStrictEquals(async[Symbol.asyncIterator](), async);
});

Deno.test("bindIterator() rejects what is neither an iterator nor an iterable", () => {
  for (const bad of [undefined, null, 1, {}, { next: 1 }]) {
    assertThrows(
      () => bindIterator(bad as never),
      TypeError,
      "expected an iterator or an iterable",
    );
  }
  assertThrows(() => bindIterator(reads as never), TypeError, "Call a generator function");
});

Deno.test("a bound iterator has the type of its iterator", () => {
  const generator = bindIterator(reads(1));
  const asyncGenerator = bindIterator(readsAsync(1));
  const values = bindIterator([1].values());
  const iterable = bindIterator(new Set([1]));
  const iterator = bindIterator(bare());

  assertType<IsExact<typeof generator, Generator<string, string, string | undefined>>>(true);
  assertType<IsExact<typeof asyncGenerator, AsyncGenerator<string, string, string | undefined>>>(
    true,
  );
  assertEquals(values.map((n) => n + 1).toArray(), [2]);
  assertEquals([...iterable], [1]);
  assertEquals(iterator.next().value, "nobody");
  // @ts-expect-error -- a Set is an iterable, not an iterator.
  assertEquals(iterable.next, undefined);
});
