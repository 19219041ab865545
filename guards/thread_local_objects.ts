import { declareLate } from "./late_slot.ts";
import type { ThreadLocal } from "../registry/thread_local.ts";

/**
 * The types of thread-local objects by key. Empty; a program adds its own:
 *
 * ```ts ignore
 * declare module "@thread-local/core" {
 *   interface ThreadLocalObjectTypes {
 *     "app.tracer": Tracer;
 *   }
 * }
 * ```
 */
// deno-lint-ignore no-empty-interface
export interface ThreadLocalObjectTypes {}

/** The type of the object under `K`: what {@linkcode ThreadLocalObjectTypes} says, else `unknown`. */
export type ThreadLocalObject<K extends string> = K extends keyof ThreadLocalObjectTypes
  ? ThreadLocalObjectTypes[K]
  : unknown;

type Objects = ReadonlyMap<string, unknown>;

const slot = declareLate<Objects>("objects", { initial: new Map() });

/**
 * Arbitrary objects by string key, part of the state: for what is not known well enough to be a slot
 * of its own, such as the objects of a scripting layer (PyTorch's `ThreadLocalPythonObjects`).
 *
 * Each flow sees what was set in it or in the flow that started it. The objects are shared, not
 * copied, and stay in the isolate. Setting and erasing cost O(objects set).
 *
 * @example
 * ```ts
 * import { saveThreadLocalState } from "@thread-local/core";
 * import { ThreadLocalObjects } from "@thread-local/core/guards";
 * import { assert, assertEquals, assertFalse } from "@std/assert";
 *
 * ThreadLocalObjects.set("torch.fuser", { level: 2 });
 * const state = saveThreadLocalState();
 * assert(ThreadLocalObjects.erase("torch.fuser"));
 *
 * assertFalse(ThreadLocalObjects.contains("torch.fuser"));
 * assertEquals(state.run(() => ThreadLocalObjects.get("torch.fuser")), { level: 2 });
 * ```
 */
export class ThreadLocalObjects {
  private constructor() {}

  /** The slot that holds them all. */
  static get slot(): ThreadLocal<ReadonlyMap<string, unknown>> {
    return slot();
  }

  /**
   * Sets the object of this key, from here on in this flow.
   *
   * @throws {TypeError} If the key is not a non-empty string.
   */
  static set<K extends string>(key: K, object: ThreadLocalObject<K>): void {
    if (typeof key !== "string" || key === "") {
      throw new TypeError(
        `Cannot set a thread-local object: its key must be a non-empty string, got ${
          key === "" ? "an empty one" : typeof key
        }`,
      );
    }
    slot().set(new Map(slot().get()).set(key, object));
  }

  /** The object of this key, or `undefined` where there is none. O(1). */
  static get<K extends string>(key: K): ThreadLocalObject<K> | undefined {
    return slot().get().get(key) as ThreadLocalObject<K> | undefined;
  }

  /** Whether there is an object of this key; one that is `undefined` counts. O(1). */
  static contains(key: string): boolean {
    return slot().get().has(key);
  }

  /**
   * Takes the object of this key out, from here on in this flow.
   *
   * @returns Whether there was one.
   */
  static erase(key: string): boolean {
    const objects = new Map(slot().get());
    if (!objects.delete(key)) return false;
    if (objects.size === 0) slot().clear();
    else slot().set(objects);
    return true;
  }
}
