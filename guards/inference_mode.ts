import { checkMode, editModes, FORWARD_GRAD, GRAD, INFERENCE } from "./autograd_state.ts";
import { dispatchKeys } from "./dispatch_key.ts";
import { autogradDispatchKeys, DispatchKeySet } from "./dispatch_key_set.ts";
import { type Edit, EditGuard, type EditGuardForms, formsOf, runEdited } from "./edit_guard.ts";
import { editDispatchKeys } from "./local_dispatch_keys.ts";
import type { GuardOptions } from "../registry/guard.ts";
import { guardForAsync } from "../registry/thread_local.ts";

const MODES = GRAD | FORWARD_GRAD | INFERENCE;
const IN_PLACE_OR_VIEW = DispatchKeySet.of(dispatchKeys.ADInplaceOrView);

const ON: readonly Edit<unknown>[] = [
  editModes(MODES, INFERENCE),
  editDispatchKeys((keys) =>
    keys.with({
      included: keys.included.difference(IN_PLACE_OR_VIEW),
      excluded: keys.excluded.union(autogradDispatchKeys),
    })
  ),
];

const OFF: readonly Edit<unknown>[] = [
  editModes(MODES, GRAD | FORWARD_GRAD),
  editDispatchKeys((keys) =>
    keys.with({
      included: keys.included.union(IN_PLACE_OR_VIEW),
      excluded: keys.excluded.difference(autogradDispatchKeys),
    })
  ),
];

function inferenceEdits(enabled: boolean): readonly Edit<unknown>[] {
  checkMode("inference mode", enabled);
  return enabled ? ON : OFF;
}

/**
 * Turns inference mode on or off for a scope: for work that will never take part in autograd.
 *
 * One step edits two slots. On: grad mode and forward grad mode go off, the autograd keys are
 * excluded from dispatch and `ADInplaceOrView` is no longer included. Off: all of it the other way
 * round. Multithreading stays as it is.
 *
 * **`new InferenceMode(false)` turns grad mode on, also inside a {@linkcode NoGradGuard}**: it means
 * "no inference here", not "as outside". PyTorch's does the same.
 *
 * @example
 * ```ts
 * import {
 *   InferenceMode,
 *   isGradEnabled,
 *   isInferenceModeEnabled,
 *   NoGradGuard,
 * } from "@thread-local/core/guards";
 * import { assert, assertEquals } from "@std/assert";
 *
 * {
 *   using _ = new InferenceMode();
 *   assertEquals([isInferenceModeEnabled(), isGradEnabled()], [true, false]);
 * }
 * assert(isGradEnabled());
 *
 * NoGradGuard.run(() => {
 *   using _ = new InferenceMode(false);
 *   assert(isGradEnabled());
 * });
 * ```
 */
export class InferenceMode extends EditGuard {
  /**
   * A guard for a synchronous block: `using _ = new InferenceMode();`.
   *
   * @param enabled Default: `true`. `false` turns grad mode on, whatever it was outside.
   * @throws {TypeError} If `enabled` is not a boolean.
   */
  constructor(enabled?: boolean);
  /** @internal */
  constructor(enabled: boolean, form: GuardOptions);
  constructor(enabled: boolean = true, form: GuardOptions = inferenceModes.sync) {
    super(inferenceEdits(enabled), form);
  }

  /**
   * A guard for the rest of an async function: `using _ = await InferenceMode.enter();`.
   *
   * @param enabled Default: `true`. `false` turns grad mode on, whatever it was outside.
   * @throws {TypeError} (rejects) If `enabled` is not a boolean, or this runtime has no asynchronous
   * context.
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter(enabled: boolean = true): Promise<InferenceMode> {
    return guardForAsync(new InferenceMode(enabled, inferenceModes.async));
  }

  /**
   * Calls `fn` with inference mode on or off, for it and everything asynchronous that it starts.
   *
   * @param enabled `false` turns grad mode on, whatever it was outside.
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if an argument is of the wrong type.
   */
  static run<A extends unknown[], R>(enabled: boolean, fn: (...args: A) => R, ...args: A): R {
    return runEdited(inferenceEdits(enabled), fn, args);
  }
}

const inferenceModes: EditGuardForms = formsOf(InferenceMode);
