import { assertEquals } from "@std/assert";
import { bindIterator } from "@thread-local/core";
import { user } from "./_iterators.ts";

Deno.test("a bound iterable begins each of its iterators in the state of the binding", () => {
  const rows = {
    *[Symbol.iterator]() {
      yield user.get();
      user.set("body");
      yield user.get();
    },
  };

  const bound = user.run("ann", () => bindIterator(rows));

  assertEquals(user.run("bob", () => [[...bound], [...bound]]), [["ann", "body"], ["ann", "body"]]);
});

Deno.test("a bound iterable calls the method that begins an iterator in that state", () => {
  const rows = {
    [Symbol.iterator]() {
      const opener = user.get();
      return [opener].values();
    },
  };

  const bound = user.run("ann", () => bindIterator(rows));

  assertEquals(user.run("bob", () => [...bound]), ["ann"]);
});

Deno.test("a bound async iterable begins and runs its iterator in the state of the binding", async () => {
  const rows = {
    [Symbol.asyncIterator]() {
      const opener = user.get();
      return {
        next: () => Promise.resolve({ done: false, value: [opener, user.get()] }),
      };
    },
  };

  const bound = user.run("ann", () => bindIterator(rows));
  const first = await user.run("bob", () => bound[Symbol.asyncIterator]().next());

  assertEquals(first.value, ["ann", "ann"]);
});
