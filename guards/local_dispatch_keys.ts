import { book, type DispatchKey, dispatchKeys } from "./dispatch_key.ts";
import { autocastDispatchKeys, DispatchKeySet } from "./dispatch_key_set.ts";
import type { Edit } from "./edit_guard.ts";
import { declareLate } from "./late_slot.ts";
import type { WireCodec } from "../registry/slot_options.ts";
import type { ThreadLocal } from "../registry/thread_local.ts";

/** The two sets of a {@linkcode LocalDispatchKeys}. */
export interface IncludedAndExcluded {
  /** Dispatched on beside the keys of an operator's arguments. */
  readonly included: DispatchKeySet;
  /** Not dispatched on, whatever includes them. */
  readonly excluded: DispatchKeySet;
}

/**
 * The dispatch keys that the current flow includes and excludes, as one immutable value in one slot
 * (PyTorch's `LocalDispatchKeySet`). Exclusion beats inclusion.
 *
 * Initially `BackendSelect` and `ADInplaceOrView` are included, and the autocast keys are excluded.
 *
 * @example
 * ```ts
 * import { dispatchKeys, LocalDispatchKeys } from "@thread-local/core/guards";
 * import { assert } from "@std/assert";
 *
 * const { included, excluded } = LocalDispatchKeys.current;
 *
 * assert(included.has(dispatchKeys.ADInplaceOrView));
 * assert(excluded.has(dispatchKeys.AutocastCPU));
 * ```
 */
export class LocalDispatchKeys implements IncludedAndExcluded {
  /** Dispatched on beside the keys of an operator's arguments. */
  readonly included: DispatchKeySet;
  /** Not dispatched on, whatever includes them. */
  readonly excluded: DispatchKeySet;

  /** Any two sets: a key in both is excluded. */
  constructor({ included, excluded }: IncludedAndExcluded) {
    this.included = included;
    this.excluded = excluded;
  }

  /** The slot that holds it. It may go with a state to another isolate or process, by names. */
  static get slot(): ThreadLocal<LocalDispatchKeys> {
    return slot();
  }

  /** What the current flow sees. O(1), allocates nothing. */
  static get current(): LocalDispatchKeys {
    return slot().get();
  }

  /** These keys with another included or excluded set. */
  with(sets: Partial<IncludedAndExcluded>): LocalDispatchKeys {
    return new LocalDispatchKeys({
      included: sets.included ?? this.included,
      excluded: sets.excluded ?? this.excluded,
    });
  }

  /** Whether both sets are the same. */
  equals(other: LocalDispatchKeys): boolean {
    return this.included.equals(other.included) && this.excluded.equals(other.excluded);
  }
}

const wire: WireCodec<LocalDispatchKeys> = {
  encode: ({ included, excluded }) => ({
    included: [...included].map(({ name }) => name),
    excluded: [...excluded].map(({ name }) => name),
  }),
  decode: (sets) => {
    const { included, excluded } = sets as { included: unknown; excluded: unknown };
    return new LocalDispatchKeys({ included: named(included), excluded: named(excluded) });
  },
};

/** A name that is not registered here is left out: nothing can be dispatched on it here. */
function named(names: unknown): DispatchKeySet {
  if (!Array.isArray(names)) throw new TypeError("Cannot read dispatch keys: expected two lists");
  const keys = names.map((name) => book.byName.get(name)).filter((key) => key !== undefined);
  return DispatchKeySet.of(...keys);
}

const slot = declareLate<LocalDispatchKeys>("localDispatchKeys", {
  initial: new LocalDispatchKeys({
    included: DispatchKeySet.of(dispatchKeys.BackendSelect, dispatchKeys.ADInplaceOrView),
    excluded: autocastDispatchKeys,
  }),
  wire,
});

/**
 * The keys to dispatch on, given those of an operator's arguments: with what the current flow
 * includes, without what it excludes.
 *
 * @example Exclusion beats inclusion
 * ```ts
 * import {
 *   computeDispatchKeys,
 *   DispatchKeySet,
 *   dispatchKeys,
 *   ExcludeDispatchKeyGuard,
 *   IncludeDispatchKeyGuard,
 * } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * const { Tracer, CPU } = dispatchKeys;
 * using _include = new IncludeDispatchKeyGuard(Tracer);
 * using _exclude = new ExcludeDispatchKeyGuard(Tracer);
 *
 * assertEquals(computeDispatchKeys(DispatchKeySet.of(CPU, Tracer)).has(Tracer), false);
 * assertEquals(computeDispatchKeys(DispatchKeySet.of(CPU)).has(CPU), true);
 * ```
 */
export function computeDispatchKeys(keys: DispatchKeySet): DispatchKeySet {
  const { included, excluded } = slot().get();
  return keys.union(included).difference(excluded);
}

/**
 * Whether the current flow includes the key. It may be excluded all the same, which wins.
 *
 * @example
 * ```ts
 * import { dispatchKeys, isDispatchKeyIncluded } from "@thread-local/core/guards";
 * import { assert } from "@std/assert";
 *
 * assert(isDispatchKeyIncluded(dispatchKeys.BackendSelect));
 * ```
 */
export function isDispatchKeyIncluded(key: DispatchKey): boolean {
  return slot().get().included.has(key);
}

/**
 * Whether the current flow excludes the key.
 *
 * @example
 * ```ts
 * import { dispatchKeys, InferenceMode, isDispatchKeyExcluded } from "@thread-local/core/guards";
 * import { assert } from "@std/assert";
 *
 * assert(InferenceMode.run(true, isDispatchKeyExcluded, dispatchKeys.AutogradCPU));
 * ```
 */
export function isDispatchKeyExcluded(key: DispatchKey): boolean {
  return slot().get().excluded.has(key);
}

/** Undone, only the keys that `change` put in or took out of a set are as they were before. */
export function editDispatchKeys(
  change: (outside: LocalDispatchKeys) => LocalDispatchKeys,
): Edit<LocalDispatchKeys> {
  // An edit is applied to the same value again and again: to the initial one, mostly.
  let last: { outside: LocalDispatchKeys; inside: LocalDispatchKeys } | undefined;
  const apply = (outside: LocalDispatchKeys): LocalDispatchKeys => {
    if (last?.outside !== outside) last = { outside, inside: change(outside) };
    return last.inside;
  };
  return {
    get slot(): ThreadLocal<LocalDispatchKeys> {
      return slot();
    },
    apply,
    undo: (before, visible) => {
      const inside = apply(before);
      const undone = visible.with({
        included: undo(before.included, inside.included, visible.included),
        excluded: undo(before.excluded, inside.excluded, visible.excluded),
      });
      return undone.equals(before) ? before : undone;
    },
  };
}

function undo(
  before: DispatchKeySet,
  inside: DispatchKeySet,
  visible: DispatchKeySet,
): DispatchKeySet {
  return visible.difference(inside.difference(before)).union(before.difference(inside));
}
