import {
  copy,
  currentFrame,
  type Frame,
  type FrameDraft,
  held,
  put,
  valueOf,
} from "../registry/frame.ts";
import { Guard, type GuardedSlot, type GuardOptions, siteBudget } from "../registry/guard.ts";
import { runIn } from "../registry/scope.ts";
import { checkFunction, type ThreadLocal } from "../registry/thread_local.ts";

/**
 * A change of what one slot holds, made from what it holds already.
 *
 * @typeParam T The type of the slot's values. They are immutable.
 */
export interface Edit<T> {
  /** The slot that is edited. */
  readonly slot: ThreadLocal<T>;
  /** The value inside, made of the value outside. */
  apply(outside: T): T;
  /**
   * Takes this edit, and nothing else, out of the value that is `visible` at its end: it may have
   * been changed in between. `before` is the value outside. Return `before` itself where the result
   * is no other: a slot that was unbound before is then unbound again.
   */
  undo(before: T, visible: T): T;
}

/** How the guards of one class are made: for a synchronous block, and for an async function. */
export interface EditGuardForms {
  /** For a synchronous block. */
  readonly sync: GuardOptions;
  /** For the rest of an async function. */
  readonly async: GuardOptions;
}

/** The two forms of a class, which share one budget of recorded sites. */
export function formsOf(guards: { readonly enter: unknown }): EditGuardForms {
  const sites = siteBudget();
  return {
    sync: { sync: true, sites, above: guards },
    async: { sync: false, sites, above: guards.enter },
  };
}

/**
 * A guard that edits what slots hold for a scope, several of them in one step, instead of putting
 * a value of its own in their place. At its end each edit is undone, and only it: what others
 * changed in the same value in between stays.
 *
 * It is what the guards of this package are made of; see {@linkcode NoGradGuard} and
 * {@linkcode ExcludeDispatchKeyGuard}.
 *
 * @example
 * ```ts
 * import { type EditGuard, isGradEnabled, NoGradGuard } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * const guard: EditGuard = new NoGradGuard();
 * assert(isGradEnabled());
 * {
 *   using _ = guard;
 *   assertFalse(isGradEnabled());
 * }
 * assert(isGradEnabled());
 * ```
 */
export abstract class EditGuard extends Guard {
  private readonly edits: readonly Edit<unknown>[];

  /** Made by subclasses. */
  protected constructor(edits: readonly Edit<unknown>[], form: GuardOptions) {
    super(form);
    this.edits = edits;
  }

  /** @internal */
  protected override draft(parent: Frame): FrameDraft {
    return draftEdited(parent, this.edits);
  }

  /** @internal */
  protected override slots(): readonly GuardedSlot[] {
    return this.edits.map((edit) => edit.slot);
  }

  /** @internal */
  protected override undone(slot: GuardedSlot, parent: Frame, visible: unknown): unknown {
    const edit = this.editOf(slot);
    const outside = edit.slot.lookUpIn(parent);
    const before = valueIn(edit, outside);
    const value = edit.undo(before, valueIn(edit, visible));
    return value === before ? outside : held(value);
  }

  /** @internal */
  protected override edited(slot: GuardedSlot, outside: unknown): unknown {
    const edit = this.editOf(slot);
    return held(edit.apply(valueIn(edit, outside)));
  }

  /** The edit of this slot. */
  private editOf(slot: GuardedSlot): Edit<unknown> {
    // By key: the slot may come from a guard of another copy of the package.
    return this.edits.find((edit) => edit.slot.key === slot.key)!;
  }
}

/** Calls `fn` with the edits applied. */
export function runEdited<A extends unknown[], R>(
  edits: readonly Edit<unknown>[],
  fn: (...args: A) => R,
  args: A,
): R {
  checkFunction(fn, edits.map((edit) => edit.slot.key).join(" and "));
  return runIn(draftEdited(currentFrame(), edits), fn, args);
}

function draftEdited(parent: Frame, edits: readonly Edit<unknown>[]): FrameDraft {
  let draft: FrameDraft | undefined;
  for (const edit of edits) {
    const frame = draft ?? parent;
    draft = put(frame, edit.slot, held(edit.apply(valueIn(edit, edit.slot.lookUpIn(frame)))));
  }
  return draft ?? copy(parent, parent.length);
}

function valueIn(edit: Edit<unknown>, found: unknown): unknown {
  return found === undefined ? edit.slot.readInitial() : valueOf(found);
}
