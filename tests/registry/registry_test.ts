import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { registry, ThreadLocal } from "@thread-local/core/registry";

Deno.test("registry.get() finds a slot by key, and nothing under an unknown key", () => {
  const slot = new ThreadLocal("registry_test.get", { initial: 0 });

  assertStrictEquals(registry.get("registry_test.get"), slot);
  assertEquals(registry.get("registry_test.unknown"), undefined);
  assertEquals(registry.get("toString"), undefined);
});

Deno.test("registry.has() tells which keys are declared", () => {
  new ThreadLocal("registry_test.has", { initial: 0 });

  assert(registry.has("registry_test.has"));
  assertFalse(registry.has("registry_test.has not"));
});

Deno.test("registry lists keys and slots in the order of declaration, and counts them", () => {
  const size = registry.size;
  const one = new ThreadLocal("registry_test.list b", { initial: 0 });
  const two = new ThreadLocal("registry_test.list a", { initial: 0 });

  assertEquals(registry.size, size + 2);
  assertEquals([...registry.keys()].slice(-2), [one.key, two.key]);
  assertEquals([...registry].slice(-2), [one, two]);
  assertEquals([...registry].length, registry.size);
});

Deno.test("registry cannot be changed from outside", () => {
  const writable = registry as unknown as Record<string, unknown>;

  assertThrows(() => writable.get = () => 1, TypeError);
  assertThrows(() => writable.size = 0, TypeError);
  assertThrows(() => writable.more = 0, TypeError);
});
