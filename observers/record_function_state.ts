import type { Registration } from "./registration.ts";
import {
  type Edit,
  EditGuard,
  type EditGuardForms,
  formsOf,
  runEdited,
} from "../guards/edit_guard.ts";
import { declareLate } from "../guards/late_slot.ts";
import type { GuardOptions } from "../registry/guard.ts";
import { guardForAsync, type ThreadLocal } from "../registry/thread_local.ts";

/** What the current flow sees of observers. Never written. */
export interface RecordFunctionState {
  /** The thread-local observers, by ascending handle. */
  readonly local: readonly Registration[];
  /** Whether ranges are observed at all. */
  readonly enabled: boolean;
}

const slot = declareLate<RecordFunctionState>("recordFunction", {
  initial: { local: [], enabled: true },
});

/** The slot of the observers' state. */
export function recordFunctionSlot(): ThreadLocal<RecordFunctionState> {
  return slot();
}

const DISABLE: readonly Edit<unknown>[] = [
  {
    get slot(): ThreadLocal<RecordFunctionState> {
      return slot();
    },
    apply: (outside) => ({ ...outside, enabled: false }),
    // Thread-local observers that were added or removed in between stay so.
    undo: (before, visible) =>
      visible.local === before.local ? before : { ...visible, enabled: before.enabled },
  } satisfies Edit<RecordFunctionState>,
];

/**
 * Whether the current flow's ranges are observed: not inside a {@linkcode DisableRecordFunctionGuard}.
 *
 * @example
 * ```ts
 * import { DisableRecordFunctionGuard, isRecordFunctionEnabled } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   [isRecordFunctionEnabled(), DisableRecordFunctionGuard.run(isRecordFunctionEnabled)],
 *   [true, false],
 * );
 * ```
 */
export function isRecordFunctionEnabled(): boolean {
  return slot().get().enabled;
}

/**
 * Turns all observers off for a scope, global and thread-local: ranges that begin inside are not
 * observed. Ranges that were observed when they began still get their `end`.
 *
 * @example
 * ```ts
 * import {
 *   addGlobalObserver,
 *   DisableRecordFunctionGuard,
 *   recordFunction,
 *   removeObserver,
 * } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const names: string[] = [];
 * const handle = addGlobalObserver({ start: ({ name }) => names.push(name) });
 * {
 *   using _ = new DisableRecordFunctionGuard();
 *   recordFunction("hidden", {}, () => {});
 * }
 * recordFunction("seen", {}, () => {});
 *
 * assertEquals(names, ["seen"]);
 * await removeObserver(handle);
 * ```
 */
export class DisableRecordFunctionGuard extends EditGuard {
  /** A guard for a synchronous block: `using _ = new DisableRecordFunctionGuard();`. */
  constructor();
  /** @internal */
  constructor(form: GuardOptions);
  constructor(form: GuardOptions = disableGuards.sync) {
    super(DISABLE, form);
  }

  /**
   * A guard for the rest of an async function: `using _ = await DisableRecordFunctionGuard.enter();`.
   *
   * @throws {TypeError} (rejects) If this runtime has no asynchronous context.
   */
  static enter(): Promise<DisableRecordFunctionGuard> {
    return guardForAsync(new DisableRecordFunctionGuard(disableGuards.async));
  }

  /**
   * Calls `fn` with all observers off, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if it is not a function.
   */
  static run<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R {
    return runEdited(DISABLE, fn, args);
  }
}

const disableGuards: EditGuardForms = formsOf(DisableRecordFunctionGuard);
