/**
 * Slots, the registry of all of them, and their state as a value.
 *
 * @example
 * ```ts
 * import { saveThreadLocalState, ThreadLocal } from "@thread-local/core/registry";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("registry.example", { initial: "nobody" });
 * const state = user.run("ann", saveThreadLocalState);
 *
 * assertEquals(state.run(() => user.get()), "ann");
 * ```
 *
 * @module
 */
export { DuplicateSlotError } from "./errors.ts";
export { contextStorage } from "./frame.ts";
export { Guard } from "./guard.ts";
export { type MisuseKind, type MisuseReport, onMisuse } from "./misuse.ts";
export { type Registry, registry, type SlotValue, type ThreadLocalSlots } from "./registry.ts";
export {
  type RestoreOptions,
  restoreThreadLocalState,
  saveThreadLocalState,
  ThreadLocalState,
} from "./state.ts";
export type { ContextStorageKind } from "./storage.ts";
export type { JsonValue } from "./json.ts";
export type { StateWire, WireLimits } from "./wire.ts";
export type { InitialValue, SlotOptions, WireCodec } from "./slot_options.ts";
export { ThreadLocal } from "./thread_local.ts";
