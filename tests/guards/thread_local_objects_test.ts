import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { saveThreadLocalState, scoped } from "@thread-local/core";
import { ThreadLocalObjects } from "@thread-local/core/guards";

Deno.test("ThreadLocalObjects.get() gives the very object that was set", () => {
  scoped(() => {
    const object = { a: 1 };
    ThreadLocalObjects.set("objects_test.a", object);

    assertStrictEquals(ThreadLocalObjects.get("objects_test.a"), object);
    assertStrictEquals(ThreadLocalObjects.get("objects_test.b"), undefined);
  });
});

Deno.test("ThreadLocalObjects.contains() tells an object that is undefined from none", () => {
  scoped(() => {
    ThreadLocalObjects.set("objects_test.a", undefined);

    assert(ThreadLocalObjects.contains("objects_test.a"));
    assertFalse(ThreadLocalObjects.contains("toString"));
  });
});

Deno.test("ThreadLocalObjects.erase() says whether there was one, and unbinds with the last", () => {
  scoped(() => {
    const before = saveThreadLocalState().size;
    ThreadLocalObjects.set("objects_test.a", 1);
    ThreadLocalObjects.set("objects_test.b", 2);

    assertEquals(
      ["objects_test.a", "objects_test.a", "objects_test.b"].map(ThreadLocalObjects.erase),
      [true, false, true],
    );
    assertEquals(saveThreadLocalState().size, before);
  });
});

Deno.test("ThreadLocalObjects are part of the state, and a saved state does not change", () => {
  scoped(() => {
    ThreadLocalObjects.set("objects_test.a", 1);
    const state = saveThreadLocalState();
    ThreadLocalObjects.set("objects_test.a", 2);
    ThreadLocalObjects.erase("objects_test.a");

    assertEquals(state.run(() => ThreadLocalObjects.get("objects_test.a")), 1);
  });
});

Deno.test("ThreadLocalObjects of one flow are not seen by another", async () => {
  const flow = (value: number) =>
    scoped(async () => {
      ThreadLocalObjects.set("objects_test.flow", value);
      await Promise.resolve();
      return ThreadLocalObjects.get("objects_test.flow");
    });

  const seen = await Promise.all([flow(1), flow(2)]);

  assertEquals(seen, [1, 2]);
  assertFalse(ThreadLocalObjects.contains("objects_test.flow"));
});

Deno.test("ThreadLocalObjects.set() rejects a key that is empty or no string", () => {
  for (const bad of ["", 1, Symbol(), null]) {
    assertThrows(() => ThreadLocalObjects.set(bad as string, 1), TypeError, "non-empty string");
  }
});
