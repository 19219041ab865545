import { checkMode, editModes, FORWARD_GRAD, GRAD } from "./autograd_state.ts";
import { type Edit, EditGuard, type EditGuardForms, formsOf, runEdited } from "./edit_guard.ts";
import type { GuardOptions } from "../registry/guard.ts";
import { guardForAsync } from "../registry/thread_local.ts";

const GRAD_ON: readonly Edit<unknown>[] = [editModes(GRAD, GRAD)];
const GRAD_OFF: readonly Edit<unknown>[] = [editModes(GRAD, 0)];
const FORWARD_ON: readonly Edit<unknown>[] = [editModes(FORWARD_GRAD, FORWARD_GRAD)];
const FORWARD_OFF: readonly Edit<unknown>[] = [editModes(FORWARD_GRAD, 0)];

function gradEdits(enabled: boolean): readonly Edit<unknown>[] {
  checkMode("grad mode", enabled);
  return enabled ? GRAD_ON : GRAD_OFF;
}

function forwardEdits(enabled: boolean): readonly Edit<unknown>[] {
  checkMode("forward grad mode", enabled);
  return enabled ? FORWARD_ON : FORWARD_OFF;
}

/**
 * Turns grad mode on or off for a scope; the other modes stay. See {@linkcode NoGradGuard} and
 * {@linkcode EnableGradGuard} for the two by name.
 *
 * @example
 * ```ts
 * import { AutoGradMode, isGradEnabled } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * {
 *   using _ = new AutoGradMode(false);
 *   assertFalse(isGradEnabled());
 *   assert(AutoGradMode.run(true, isGradEnabled));
 * }
 * assert(isGradEnabled());
 * ```
 */
export class AutoGradMode extends EditGuard {
  /**
   * A guard for a synchronous block: `using _ = new AutoGradMode(enabled);`.
   *
   * @throws {TypeError} If `enabled` is not a boolean.
   */
  constructor(enabled: boolean);
  /** @internal */
  constructor(enabled: boolean, form: GuardOptions);
  constructor(enabled: boolean, form: GuardOptions = autoGradModes.sync) {
    super(gradEdits(enabled), form);
  }

  /**
   * A guard for the rest of an async function: `using _ = await AutoGradMode.enter(enabled);`.
   *
   * @throws {TypeError} (rejects) If `enabled` is not a boolean, or this runtime has no asynchronous
   * context.
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter(enabled: boolean): Promise<AutoGradMode> {
    return guardForAsync(new AutoGradMode(enabled, autoGradModes.async));
  }

  /**
   * Calls `fn` with grad mode on or off, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if an argument is of the wrong type.
   */
  static run<A extends unknown[], R>(enabled: boolean, fn: (...args: A) => R, ...args: A): R {
    return runEdited(gradEdits(enabled), fn, args);
  }
}

const autoGradModes: EditGuardForms = formsOf(AutoGradMode);

/**
 * Turns grad mode off for a scope; the other modes stay.
 *
 * @example
 * ```ts
 * import { isGradEnabled, NoGradGuard } from "@thread-local/core/guards";
 * import { assert, assertEquals, assertFalse } from "@std/assert";
 *
 * async function evaluate() {
 *   using _ = await NoGradGuard.enter();
 *   await Promise.resolve();
 *   return isGradEnabled();
 * }
 *
 * const evaluated = evaluate();
 * assert(isGradEnabled());
 * assertFalse(await evaluated);
 * assertEquals(NoGradGuard.run(isGradEnabled), false);
 * ```
 */
export class NoGradGuard extends EditGuard {
  /** A guard for a synchronous block: `using _ = new NoGradGuard();`. */
  constructor();
  /** @internal */
  constructor(form: GuardOptions);
  constructor(form: GuardOptions = noGradGuards.sync) {
    super(GRAD_OFF, form);
  }

  /**
   * A guard for the rest of an async function: `using _ = await NoGradGuard.enter();`.
   *
   * @throws {TypeError} (rejects) If this runtime has no asynchronous context.
   */
  static enter(): Promise<NoGradGuard> {
    return guardForAsync(new NoGradGuard(noGradGuards.async));
  }

  /**
   * Calls `fn` with grad mode off, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if it is not a function.
   */
  static run<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R {
    return runEdited(GRAD_OFF, fn, args);
  }
}

const noGradGuards: EditGuardForms = formsOf(NoGradGuard);

/**
 * Turns grad mode on for a scope, inside one that turned it off; the other modes stay.
 *
 * @example
 * ```ts
 * import { EnableGradGuard, isGradEnabled, NoGradGuard } from "@thread-local/core/guards";
 * import { assert } from "@std/assert";
 *
 * NoGradGuard.run(() => {
 *   using _ = new EnableGradGuard();
 *   assert(isGradEnabled());
 * });
 * ```
 */
export class EnableGradGuard extends EditGuard {
  /** A guard for a synchronous block: `using _ = new EnableGradGuard();`. */
  constructor();
  /** @internal */
  constructor(form: GuardOptions);
  constructor(form: GuardOptions = enableGradGuards.sync) {
    super(GRAD_ON, form);
  }

  /**
   * A guard for the rest of an async function: `using _ = await EnableGradGuard.enter();`.
   *
   * @throws {TypeError} (rejects) If this runtime has no asynchronous context.
   */
  static enter(): Promise<EnableGradGuard> {
    return guardForAsync(new EnableGradGuard(enableGradGuards.async));
  }

  /**
   * Calls `fn` with grad mode on, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if it is not a function.
   */
  static run<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R {
    return runEdited(GRAD_ON, fn, args);
  }
}

const enableGradGuards: EditGuardForms = formsOf(EnableGradGuard);

/**
 * Turns forward grad mode on or off for a scope; the other modes stay.
 *
 * @example
 * ```ts
 * import { AutoFwGradMode, isForwardGradEnabled, isGradEnabled } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * {
 *   using _ = new AutoFwGradMode(false);
 *   assertFalse(isForwardGradEnabled());
 *   assert(isGradEnabled());
 * }
 * assert(isForwardGradEnabled());
 * ```
 */
export class AutoFwGradMode extends EditGuard {
  /**
   * A guard for a synchronous block: `using _ = new AutoFwGradMode(enabled);`.
   *
   * @throws {TypeError} If `enabled` is not a boolean.
   */
  constructor(enabled: boolean);
  /** @internal */
  constructor(enabled: boolean, form: GuardOptions);
  constructor(enabled: boolean, form: GuardOptions = autoFwGradModes.sync) {
    super(forwardEdits(enabled), form);
  }

  /**
   * A guard for the rest of an async function: `using _ = await AutoFwGradMode.enter(enabled);`.
   *
   * @throws {TypeError} (rejects) If `enabled` is not a boolean, or this runtime has no asynchronous
   * context.
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter(enabled: boolean): Promise<AutoFwGradMode> {
    return guardForAsync(new AutoFwGradMode(enabled, autoFwGradModes.async));
  }

  /**
   * Calls `fn` with forward grad mode on or off, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if an argument is of the wrong type.
   */
  static run<A extends unknown[], R>(enabled: boolean, fn: (...args: A) => R, ...args: A): R {
    return runEdited(forwardEdits(enabled), fn, args);
  }
}

const autoFwGradModes: EditGuardForms = formsOf(AutoFwGradMode);
