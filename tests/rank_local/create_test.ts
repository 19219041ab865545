import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { currentThread, fork, RankLocal, ThreadLocal } from "@thread-local/core";

const user = new ThreadLocal("create_test.user", { initial: "nobody" });

Deno.test("RankLocal.get() whose create() ends its thread throws, and the instance is disposed", async () => {
  let disposed = 0;
  let ended: Promise<void> | undefined;
  const local = new RankLocal("create_test.ends", () => {
    ended = currentThread().end();
    return { [Symbol.dispose]: () => void disposed++ };
  });

  await fork(async () => {
    assertThrows(() => local.get(), Error, "has ended");
    await ended;
    assertThrows(() => local.get(), Error, "has ended");
  });

  assertEquals([disposed, local.size], [1, 0]);
});

Deno.test("RankLocal.get() whose create() ends its thread twice: the instance is disposed all the same", async () => {
  let disposed = 0;
  const ends: Promise<void>[] = [];
  const local = new RankLocal("create_test.ends twice", () => {
    ends.push(currentThread().end(), currentThread().end());
    return { [Symbol.dispose]: () => void disposed++ };
  });

  await fork(async () => {
    assertThrows(() => local.get(), Error, "has ended");
    await Promise.all(ends);
  });

  assertEquals(disposed, 1);
});

Deno.test("RankLocal.get() confines what create() binds, on the thread that asks too", () => {
  const local = new RankLocal("create_test.binds", () => {
    user.set("create");
    return 0;
  });

  user.run("ann", () => {
    local.get();

    assertEquals(user.get(), "ann");
  });
});

Deno.test("RankLocal.delete() inside create() is false: there is no instance yet", () => {
  const local: RankLocal<boolean> = new RankLocal("create_test.deletes", () => local.delete());

  assertFalse(local.get());
});
