import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import {
  computeDispatchKeys,
  DispatchKey,
  dispatchKeyNames,
  dispatchKeys,
  DispatchKeySet,
  ExcludeDispatchKeyGuard,
  IncludeDispatchKeyGuard,
  isDispatchKeyExcluded,
  isDispatchKeyIncluded,
  LocalDispatchKeys,
} from "@thread-local/core/guards";
import fc from "fast-check";

const { CPU, CUDA, Tracer, Batched, Named } = dispatchKeys;
const custom = DispatchKey.register("dispatch_keys_test.custom");

Deno.test("DispatchKey.register() adds a key of a set's own bit to the list", () => {
  const all = DispatchKeySet.of(...Object.values(dispatchKeys));

  assertFalse(all.has(custom));
  assert(all.union(DispatchKeySet.of(custom)).has(custom));
  assertEquals(all.union(DispatchKeySet.of(custom)).size, dispatchKeyNames.length + 1);
  assertStrictEquals(DispatchKey.find("dispatch_keys_test.custom"), custom);
});

Deno.test("DispatchKey.register() rejects a name that is taken, empty or no string", () => {
  assertThrows(() => DispatchKey.register("CPU"), TypeError, `"CPU": it is registered already`);
  assertThrows(() => DispatchKey.register(""), TypeError, "an empty one");
  assertThrows(() => DispatchKey.register(1 as never), TypeError, "number");
});

Deno.test("DispatchKeySet behaves as a set of keys", () => {
  const list = [...Object.values(dispatchKeys), custom];
  const subset = fc.subarray(list as DispatchKey[]);

  fc.assert(fc.property(subset, subset, (a, b) => {
    const [left, right] = [DispatchKeySet.of(...a), DispatchKeySet.of(...b)];
    const [own, others] = [new Set(a), new Set(b)];
    const same = (keys: DispatchKeySet, model: Set<DispatchKey>) =>
      assertEquals(new Set(keys), model);

    same(left.union(right), own.union(others));
    same(left.difference(right), own.difference(others));
    same(left.intersection(right), own.intersection(others));
    assertEquals(left.size, own.size);
    assertEquals(left.equals(right), own.symmetricDifference(others).size === 0);
    assert(left.union(right).difference(right).equals(left.difference(right)));
    for (const key of list) assertEquals(left.has(key), own.has(key));
  }));
});

Deno.test("DispatchKeySet.of() rejects what is not a registered key", () => {
  for (const bad of [undefined, null, "CPU", { name: "CPU", bit: 0 }]) {
    assertThrows(() => DispatchKeySet.of(bad as never), TypeError, "expected keys such as");
  }
});

Deno.test("LocalDispatchKeys includes ADInplaceOrView and excludes the autocast keys at first", () => {
  assert(isDispatchKeyIncluded(dispatchKeys.ADInplaceOrView));
  assert(isDispatchKeyExcluded(dispatchKeys.AutocastCUDA));
});

Deno.test("computeDispatchKeys() adds what is included, and exclusion beats inclusion", () => {
  using _include = new IncludeDispatchKeyGuard([Tracer, Batched]);
  using _exclude = new ExcludeDispatchKeyGuard([Tracer, CPU]);

  const keys = computeDispatchKeys(DispatchKeySet.of(CPU, CUDA));

  assertEquals([CPU, CUDA, Tracer, Batched].map((key) => keys.has(key)), [
    false,
    true,
    false,
    true,
  ]);
});

for (
  const [name, guard, has] of [
    ["IncludeDispatchKeyGuard", IncludeDispatchKeyGuard, isDispatchKeyIncluded],
    ["ExcludeDispatchKeyGuard", ExcludeDispatchKeyGuard, isDispatchKeyExcluded],
  ] as const
) {
  Deno.test(`${name}: the inner of two with the same key takes nothing out`, () => {
    using _outer = new guard(Tracer);
    {
      using _inner = new guard([Tracer, Named]);
      assert(has(Named));
    }

    assert(has(Tracer));
    assertFalse(has(Named));
  });

  Deno.test(`${name} undoes only its own keys where others changed the sets inside`, () => {
    const { slot } = LocalDispatchKeys;
    slot.run(slot.get(), () => {
      {
        using _ = new guard(Tracer);
        const keys = slot.get();
        slot.set(keys.with({
          included: keys.included.union(DispatchKeySet.of(Batched)),
          excluded: keys.excluded.union(DispatchKeySet.of(CUDA)),
        }));
      }

      assertFalse(has(Tracer));
      assert(isDispatchKeyIncluded(Batched));
      assert(isDispatchKeyExcluded(CUDA));
    });
  });

  Deno.test(`${name} takes a key out that was taken out inside already, without harm`, () => {
    const { slot } = LocalDispatchKeys;
    const before = slot.get();
    slot.run(before, () => {
      {
        using _ = new guard(Tracer);
        slot.set(before);
      }

      assert(slot.get().equals(before));
    });
  });

  Deno.test(`${name} takes keys, lists and sets of keys`, () => {
    for (const keys of [custom, [custom], new Set([custom]), DispatchKeySet.of(custom)]) {
      assert(guard.run(keys, has, custom));
    }
  });
}

Deno.test("LocalDispatchKeys crosses the wire by names, without those unknown there", () => {
  const { encode, decode } = LocalDispatchKeys.slot.wire as {
    encode(keys: LocalDispatchKeys): { included: string[]; excluded: string[] };
    decode(wire: unknown): LocalDispatchKeys;
  };
  const keys = ExcludeDispatchKeyGuard.run(custom, () => LocalDispatchKeys.current);
  const wire = JSON.parse(JSON.stringify(encode(keys)));

  const arrived = decode({ ...wire, included: [...wire.included, "nobody's", "__proto__", 7] });

  assert(arrived.equals(keys));
  for (const bad of [null, 1, {}, { included: [], excluded: "CPU" }]) {
    assertThrows(() => decode(bad), TypeError);
  }
});
