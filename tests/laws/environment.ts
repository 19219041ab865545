import { type Edit as SlotEdit, EDITS, write } from "./edits.ts";
import type { Edit, How, Target } from "./program.ts";
import type { Scope } from "./scope.ts";

// What the model hands from function to function: plain values, none of the library's.

/** A slot is its identity. */
export interface Slot {
  readonly key: string;
  readonly initial: unknown;
}

type Bindings = ReadonlyMap<Slot, unknown>;

/** What one flow sees. Also what a saved state is. */
export interface Environment {
  readonly bindings: Bindings;
  /** The guards around, outermost first. */
  readonly guards: readonly Guard[];
}

/** A guard's part in one slot: it binds the slot, or edits what is bound outside. */
export interface Part {
  readonly slot: Slot;
  readonly edit: SlotEdit | undefined;
}

/** An open or closed guard. It knows what to bring back. */
export interface Guard {
  /** What it binds, or edits, one part a slot; `undefined` for a whole state. */
  readonly parts: readonly Part[] | undefined;
  readonly opened: number;
  before: Environment;
  closed: number | undefined;
  reported: boolean;
}

export type Names = Scope<Slot, Environment, Guard>;

export const EMPTY: Environment = { bindings: new Map(), guards: [] };

/** `slot` bound to `value`. */
export function bind({ bindings, guards }: Environment, slot: Slot, value: unknown): Environment {
  return { bindings: new Map(bindings).set(slot, value), guards };
}

/** The slots unbound. */
export function unbind({ bindings, guards }: Environment, slots: readonly Slot[]): Environment {
  return { bindings: new Map([...bindings].filter(([slot]) => !slots.includes(slot))), guards };
}

/** What `slot` reads. */
export function valueIn({ bindings }: Environment, slot: Slot): unknown {
  return bindings.has(slot) ? bindings.get(slot) : slot.initial;
}

/** What a guard of these edits sees inside. */
export function applyEdits(environment: Environment, edits: readonly SlotEdit[]): Environment {
  return edits.reduce(
    (outside, { slot, apply }) => bind(outside, slot, apply(valueIn(outside, slot))),
    environment,
  );
}

/** Takes a guard's part out of what is visible now. */
export function undoPart({ slot, edit }: Part, before: Environment, now: Environment): Environment {
  if (edit === undefined) return copyBinding(slot, before, now);
  const outside = valueIn(before, slot);
  const undone = edit.undo(outside, valueIn(now, slot));
  // Where nothing else changed it, the slot is as it was: unbound, if it was that.
  return write(undone) === write(outside)
    ? copyBinding(slot, before, now)
    : bind(now, slot, undone);
}

/** `to`, with the slot as it is in `from`. */
export function copyBinding(slot: Slot, from: Environment, to: Environment): Environment {
  return from.bindings.has(slot) ? bind(to, slot, from.bindings.get(slot)) : unbind(to, [slot]);
}

/** What a flow sees that sees `around`, and restores a state. */
export function restore(
  state: Environment,
  mode: "replace" | "merge",
  around: Environment,
): Environment {
  // Guards are of a flow, not of a state: those that are open around a restore close after it.
  if (mode === "replace") return { bindings: state.bindings, guards: around.guards };
  return [...state.bindings].reduce((below, [slot, value]) => bind(below, slot, value), around);
}

/** The state that an edit makes. */
export function editState(edit: Edit, state: Environment, scope: Names): Environment {
  switch (edit.do) {
    case "with":
      return bind(state, scope.slot(edit.slot), edit.value);
    case "without":
      return unbind(state, [scope.slot(edit.slot)]);
    case "omit":
      return unbind(state, edit.slots.map((pick) => scope.slot(pick)));
    case "pick": {
      const picked = edit.slots.map((pick) => scope.slot(pick));
      return unbind(state, [...state.bindings.keys()].filter((slot) => !picked.includes(slot)));
    }
  }
}

/** What a function sees that is called this way; `undefined` if there is no such state. */
export function enter(
  how: How,
  environment: Environment,
  scope: Names,
): Environment | undefined {
  switch (how.by) {
    case "plain":
    case "scoped":
      return environment;
    case "detached":
      return EMPTY;
    case "run":
      return bind(environment, scope.slot(how.slot), how.value);
    case "state.run":
      return scope.state(how.state);
    case "edit":
      return applyEdits(environment, EDITS[how.edit]);
  }
}

/** Whether what a guard is to bind can be had. */
export function exists(target: Target, scope: Names): boolean {
  return target.binds !== "state" || scope.state(target.state) !== undefined;
}

/** What a guard of this target binds or edits. */
export function partsOf(target: Target, scope: Names): readonly Part[] | undefined {
  switch (target.binds) {
    case "slot":
      return [{ slot: scope.slot(target.slot), edit: undefined }];
    case "edit":
      return EDITS[target.edit].map((edit) => ({ slot: edit.slot, edit }));
    case "state":
      return undefined;
  }
}
