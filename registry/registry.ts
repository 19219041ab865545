import { slots, type ThreadLocal } from "./thread_local.ts";

/**
 * The types of slots by key, for typed look-up: {@linkcode Registry.get} of a key named here gives
 * a slot of that type. Empty; a program adds its own, next to the declarations of its slots:
 *
 * ```ts ignore
 * declare module "@thread-local/core" {
 *   interface ThreadLocalSlots {
 *     "app.userId": string;
 *   }
 * }
 * ```
 *
 * The name in `declare module` is the one that the program imports this package by: an alias of
 * its import map, or `jsr:@thread-local/core@^0.1` itself.
 */
// deno-lint-ignore no-empty-interface
export interface ThreadLocalSlots {}

/** The type of the values under `K`: what {@linkcode ThreadLocalSlots} says, else `unknown`. */
export type SlotValue<K extends string> = K extends keyof ThreadLocalSlots ? ThreadLocalSlots[K]
  : unknown;

/** Every slot that was declared in this isolate, by key. */
export interface Registry extends Iterable<ThreadLocal<unknown>> {
  /** How many slots are declared. */
  readonly size: number;
  /** The slot of this key, or `undefined`. O(1). */
  get<K extends string>(key: K): ThreadLocal<SlotValue<K>> | undefined;
  /** Whether a slot of this key is declared. O(1). */
  has(key: string): boolean;
  /** The keys, in the order of declaration. */
  keys(): IterableIterator<string>;
}

/**
 * The one registry of the isolate. Two copies of this package, loaded under two URLs, share it.
 *
 * @example
 * ```ts
 * import { registry, ThreadLocal } from "@thread-local/core";
 * import { assert, assertStrictEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("registry.user", { initial: "nobody" });
 *
 * assert(registry.has("registry.user"));
 * assertStrictEquals(registry.get("registry.user"), user);
 * assert([...registry].includes(user));
 * ```
 */
export const registry: Registry = Object.freeze({
  get size(): number {
    return slots.byKey.size;
  },
  get<K extends string>(key: K): ThreadLocal<SlotValue<K>> | undefined {
    return slots.byKey.get(key) as ThreadLocal<SlotValue<K>> | undefined;
  },
  has(key: string): boolean {
    return slots.byKey.has(key);
  },
  keys(): IterableIterator<string> {
    return slots.byKey.keys();
  },
  [Symbol.iterator](): Iterator<ThreadLocal<unknown>> {
    return slots.byKey.values();
  },
});
