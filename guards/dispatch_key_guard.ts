import type { DispatchKey } from "./dispatch_key.ts";
import { DispatchKeySet } from "./dispatch_key_set.ts";
import { type Edit, EditGuard, type EditGuardForms, formsOf, runEdited } from "./edit_guard.ts";
import { editDispatchKeys } from "./local_dispatch_keys.ts";
import type { GuardOptions } from "../registry/guard.ts";
import { guardForAsync } from "../registry/thread_local.ts";

type Keys = DispatchKey | Iterable<DispatchKey>;
type Edits = readonly Edit<unknown>[];

const inclusion = madeOnce((more) =>
  editDispatchKeys((outside) => outside.with({ included: outside.included.union(more) }))
);

const exclusion = madeOnce((more) =>
  editDispatchKeys((outside) => outside.with({ excluded: outside.excluded.union(more) }))
);

/** What is made of a key, or of a set of keys, is made once: neither ever changes. */
function madeOnce(make: (keys: DispatchKeySet) => Edit<unknown>): (keys: Keys) => Edits {
  const made = new WeakMap<object, Edits>();
  return (keys) => {
    const edits = made.get(keys);
    if (edits !== undefined) return edits;
    if (keys instanceof DispatchKeySet) return remember(keys, keys);
    // Any other list of keys may change.
    if (Symbol.iterator in Object(keys)) {
      return [make(DispatchKeySet.of(...keys as Iterable<DispatchKey>))];
    }
    return remember(keys, DispatchKeySet.of(keys as DispatchKey));
  };

  function remember(keys: object, set: DispatchKeySet): Edits {
    const edits = [make(set)];
    made.set(keys, edits);
    return edits;
  }
}

/**
 * Includes keys in the dispatch of every operator of a scope. A key that is also excluded stays
 * excluded. At the end only the keys that this guard added are taken out again.
 *
 * @example
 * ```ts
 * import {
 *   dispatchKeys,
 *   IncludeDispatchKeyGuard,
 *   isDispatchKeyIncluded,
 * } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * const { Tracer } = dispatchKeys;
 * {
 *   using _ = new IncludeDispatchKeyGuard(Tracer);
 *   {
 *     using _ = new IncludeDispatchKeyGuard(Tracer);
 *   }
 *   assert(isDispatchKeyIncluded(Tracer)); // the inner guard had added nothing
 * }
 * assertFalse(isDispatchKeyIncluded(Tracer));
 * ```
 */
export class IncludeDispatchKeyGuard extends EditGuard {
  /**
   * A guard for a synchronous block.
   *
   * @throws {TypeError} If `keys` is neither a registered key nor a set of such.
   */
  constructor(keys: DispatchKey | Iterable<DispatchKey>);
  /** @internal */
  constructor(keys: DispatchKey | Iterable<DispatchKey>, form: GuardOptions);
  constructor(keys: DispatchKey | Iterable<DispatchKey>, form: GuardOptions = includeGuards.sync) {
    super(inclusion(keys), form);
  }

  /**
   * A guard for the rest of an async function.
   *
   * @throws {TypeError} (rejects) If `keys` is neither a registered key nor a set of such, or this
   * runtime has no asynchronous context.
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter(keys: DispatchKey | Iterable<DispatchKey>): Promise<IncludeDispatchKeyGuard> {
    return guardForAsync(new IncludeDispatchKeyGuard(keys, includeGuards.async));
  }

  /**
   * Calls `fn` with the keys included, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if an argument is of the wrong type.
   */
  static run<A extends unknown[], R>(
    keys: DispatchKey | Iterable<DispatchKey>,
    fn: (...args: A) => R,
    ...args: A
  ): R {
    return runEdited(inclusion(keys), fn, args);
  }
}

const includeGuards: EditGuardForms = formsOf(IncludeDispatchKeyGuard);

/**
 * Excludes keys from the dispatch of every operator of a scope, whatever includes them. At the end
 * only the keys that this guard added are taken out again.
 *
 * @example Call the operator below the tracer
 * ```ts
 * import {
 *   dispatchKeys,
 *   ExcludeDispatchKeyGuard,
 *   isDispatchKeyExcluded,
 * } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * const { Tracer } = dispatchKeys;
 * {
 *   using _ = new ExcludeDispatchKeyGuard(Tracer);
 *   assert(isDispatchKeyExcluded(Tracer));
 * }
 * assertFalse(isDispatchKeyExcluded(Tracer));
 * ```
 */
export class ExcludeDispatchKeyGuard extends EditGuard {
  /**
   * A guard for a synchronous block.
   *
   * @throws {TypeError} If `keys` is neither a registered key nor a set of such.
   */
  constructor(keys: DispatchKey | Iterable<DispatchKey>);
  /** @internal */
  constructor(keys: DispatchKey | Iterable<DispatchKey>, form: GuardOptions);
  constructor(keys: DispatchKey | Iterable<DispatchKey>, form: GuardOptions = excludeGuards.sync) {
    super(exclusion(keys), form);
  }

  /**
   * A guard for the rest of an async function.
   *
   * @throws {TypeError} (rejects) If `keys` is neither a registered key nor a set of such, or this
   * runtime has no asynchronous context.
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter(keys: DispatchKey | Iterable<DispatchKey>): Promise<ExcludeDispatchKeyGuard> {
    return guardForAsync(new ExcludeDispatchKeyGuard(keys, excludeGuards.async));
  }

  /**
   * Calls `fn` with the keys excluded, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if an argument is of the wrong type.
   */
  static run<A extends unknown[], R>(
    keys: DispatchKey | Iterable<DispatchKey>,
    fn: (...args: A) => R,
    ...args: A
  ): R {
    return runEdited(exclusion(keys), fn, args);
  }
}

const excludeGuards: EditGuardForms = formsOf(ExcludeDispatchKeyGuard);
