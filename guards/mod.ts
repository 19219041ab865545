/**
 * Guards: they bind for a lexical scope and unbind at its end. The mechanism, and PyTorch's own:
 * grad mode, inference mode, dispatch keys, debug info, thread-local objects.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { ThreadLocalStateGuard } from "@thread-local/core/guards";
 * import { saveThreadLocalState } from "@thread-local/core/registry";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("guards.example", { initial: "nobody" });
 * const state = saveThreadLocalState();
 * user.run("ann", () => {
 *   using _ = new ThreadLocalStateGuard(state);
 *   assertEquals(user.get(), "nobody");
 * });
 * ```
 *
 * @module
 */
export {
  type AutogradModes,
  AutogradState,
  isForwardGradEnabled,
  isGradEnabled,
  isInferenceModeEnabled,
  isMultithreadingEnabled,
} from "./autograd_state.ts";
export { DebugInfoGuard, ThreadLocalDebugInfo } from "./debug_info.ts";
export { DebugInfoKind, type DebugInfoKindOptions } from "./debug_info_kind.ts";
export {
  DispatchKey,
  dispatchKeyNames,
  dispatchKeys,
  type WellKnownDispatchKey,
} from "./dispatch_key.ts";
export { ExcludeDispatchKeyGuard, IncludeDispatchKeyGuard } from "./dispatch_key_guard.ts";
export { autocastDispatchKeys, autogradDispatchKeys, DispatchKeySet } from "./dispatch_key_set.ts";
export { type Edit, EditGuard } from "./edit_guard.ts";
export { AutoFwGradMode, AutoGradMode, EnableGradGuard, NoGradGuard } from "./grad_mode.ts";
export { InferenceMode } from "./inference_mode.ts";
export {
  computeDispatchKeys,
  type IncludedAndExcluded,
  isDispatchKeyExcluded,
  isDispatchKeyIncluded,
  LocalDispatchKeys,
} from "./local_dispatch_keys.ts";
export { Guard } from "../registry/guard.ts";
export { type MisuseKind, type MisuseReport, onMisuse } from "../registry/misuse.ts";
export { ThreadLocalStateGuard } from "./state_guard.ts";
export {
  type ThreadLocalObject,
  ThreadLocalObjects,
  type ThreadLocalObjectTypes,
} from "./thread_local_objects.ts";
