import type { Pick, Statement } from "./program.ts";

/** What one statement left behind, as its own flow reads it. */
export interface Reading {
  readonly after: Statement;
  readonly reads: readonly unknown[];
}

/** All that a flow has read, in order; where it began other flows, their traces. */
export type Trace = (Reading | Trace)[];

/** What a function can name: the slots, states and guards that it knows. */
export class Scope<Slot, State, Guard> {
  constructor(
    readonly slots: Slot[],
    readonly states: State[] = [],
    readonly guards: Guard[] = [],
  ) {}

  slot(pick: Pick): Slot {
    return this.slots[pick % this.slots.length];
  }

  state(pick: Pick): State | undefined {
    return this.states.at(-1 - pick);
  }

  guard(pick: Pick): Guard | undefined {
    return this.guards.at(-1 - pick);
  }

  /**
   * The scope of a flow that goes on beside this one. It has none of this one's guards: a guard is
   * one object, and which of two flows closed it first would depend on when they ran.
   */
  fork(): Scope<Slot, State, Guard> {
    return new Scope([...this.slots], [...this.states]);
  }
}
