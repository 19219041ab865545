import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { currentThread, detached, fork } from "@thread-local/core";

Deno.test("currentThread() is the root thread outside of any fork", () => {
  const { name, parentId } = detached(currentThread);

  assertEquals([name, parentId], ["root", undefined]);
});

Deno.test("currentThread() ids are unique, positive and grow", async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, () => fork(() => currentThread().id)));

  assertEquals(new Set(ids).size, 100);
  assert(ids.every((id, i) => id > (ids[i - 1] ?? 0n)));
});

Deno.test("currentThread() knows its parent's id, not the grandparent's", async () => {
  const [child, grandchild] = await fork(async () => [
    currentThread(),
    await fork(currentThread),
  ]);

  assertEquals(grandchild.parentId, child.id);
  assertNotEquals(child.parentId, grandchild.parentId);
});

Deno.test("currentThread() stays the same across await and in siblings", async () => {
  const [before, after, sibling] = await fork(async () => {
    const before = currentThread();
    const [sibling] = await Promise.all([Promise.resolve().then(currentThread)]);
    return [before, currentThread(), sibling];
  });

  assertEquals([after.id, sibling.id], [before.id, before.id]);
});
