import { assertEquals, assertNotStrictEquals, assertStrictEquals } from "@std/assert";
import {
  boundIndexes,
  HEADER,
  held,
  lookUp,
  placeOf,
  put,
  ROOT,
  valueOf,
} from "../../registry/frame.ts";

const NUMBERS = [0, 1, 4, 5, 12, 13, 14, 15, 16, 17, 46, 47, 48, 49, 79, 80, 999];

Deno.test("placeOf() gives the first 16 slots a place of their own, the others a chunk of 32", () => {
  const places = new Map<number, number>();

  for (let index = 0; index < 1_000; index++) {
    const { place, offset } = placeOf(index);
    places.set(place, (places.get(place) ?? 0) + 1);
    assertEquals(offset < 0, index < 16);
  }

  assertEquals([...places.values()].slice(0, 18), [...new Array(16).fill(1), 32, 32]);
  assertEquals(placeOf(15).place + 1, placeOf(16).place);
  assertEquals(placeOf(47), { place: placeOf(16).place, offset: 31 });
  assertEquals(placeOf(48), { place: placeOf(16).place + 1, offset: 0 });
});

for (const index of NUMBERS) {
  Deno.test(`put() binds slot ${index} in a copy and leaves the frame as it was`, () => {
    const full = NUMBERS.reduce((frame, i) => put(frame, placeOf(i), `old ${i}`), ROOT);
    const others = NUMBERS.filter((i) => i !== index);
    const copyOfFull = structuredClone(full.slice(HEADER));

    for (const frame of [ROOT, full]) {
      const next = put(frame, placeOf(index), "new");

      assertEquals(lookUp(next, placeOf(index)), "new");
      for (const i of others) {
        assertStrictEquals(lookUp(next, placeOf(i)), lookUp(frame, placeOf(i)));
      }
      assertStrictEquals(next[0], frame[0]);
      assertStrictEquals(next[1], frame[1]);
    }
    assertEquals(ROOT.slice(2), [undefined, undefined]);
    assertEquals(full.slice(HEADER), copyOfFull);
  });

  Deno.test(`put() unbinds slot ${index} in a copy`, () => {
    const full = NUMBERS.reduce((frame, i) => put(frame, placeOf(i), i), ROOT);

    const next = put(full, placeOf(index), undefined);

    assertEquals([...boundIndexes(next)], NUMBERS.filter((i) => i !== index));
    assertEquals([...boundIndexes(full)], NUMBERS);
  });

  Deno.test(`boundIndexes() of a frame that binds slot ${index} alone`, () => {
    assertEquals([...boundIndexes(put(ROOT, placeOf(index), "x"))], [index]);
  });
}

Deno.test("put() copies a chunk before it writes it", () => {
  const one = put(ROOT, placeOf(16), "one");

  const two = put(one, placeOf(17), "two");

  const { place } = placeOf(16);
  assertNotStrictEquals(one[place], two[place]);
  assertEquals(lookUp(one, placeOf(17)), undefined);
});

Deno.test("held() keeps a bound undefined apart from an unbound place", () => {
  const frame = put(ROOT, placeOf(3), held(undefined));

  assertEquals([...boundIndexes(frame)], [3]);
  assertEquals(valueOf(lookUp(frame, placeOf(3))), undefined);
});
