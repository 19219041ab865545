import { assertEquals, assertFalse } from "@std/assert";
import { ThreadLocal } from "@thread-local/core/registry";
import { inTurnOfItsOwn } from "../fixtures/everywhere.ts";

// Where slots stand in a frame: 16 places of their own, then 32 to a chunk. A thousand in a row
// cover every kind of place; tests/registry/frame_test.ts has the exact numbers.
const thousand = Array.from(
  { length: 1_000 },
  (_, i) => new ThreadLocal(`many_slots_test.thousand ${i}`, { initial: -i }),
);

Deno.test("ThreadLocal: a thousand slots are bound and unbound without touching each other", () => {
  const check = (bound: number) =>
    thousand.forEach((slot, i) => assertEquals(slot.get(), i < bound ? i : -i));

  const nest = (bound: number): void => {
    if ([0, 1, 15, 16, 17, 47, 48, 49, 80, 81, 999, 1_000].includes(bound)) check(bound);
    if (bound < thousand.length) thousand[bound].run(bound, nest, bound + 1);
  };
  nest(0);

  check(0);
});

for (const number of [1, 16, 17, 18, 48, 49, 50, 80, 81, 1_000]) {
  Deno.test(`ThreadLocal number ${number} is bound alone, set and cleared as the first is`, async () => {
    const slot = thousand[number - 1];
    const others = thousand.filter((other) => other !== slot);

    await inTurnOfItsOwn(async () => {
      slot.run(1.5, () => {
        assertEquals(slot.get(), 1.5);
        assertEquals(others.filter((other) => other.isBound()), []);
      });
      slot.set(2.5);
      await null;
      assertEquals(slot.get(), 2.5);
      assertEquals(others.filter((other) => other.isBound()), []);
      slot.clear();
      assertFalse(slot.isBound());
      assertEquals(slot.get(), -(number - 1));
    });
  });
}

// Two of a chunk's neighbours in two flows: a chunk is copied, never written.
Deno.test("ThreadLocal: flows that bind neighbours in one chunk do not see each other's", async () => {
  const [, one, two] = thousand.slice(-3);

  const seen = await Promise.all([one, two].map((slot) =>
    slot.run(0.5, async () => {
      await null;
      return [one.isBound(), two.isBound()];
    })
  ));

  assertEquals(seen, [[true, false], [false, true]]);
});
