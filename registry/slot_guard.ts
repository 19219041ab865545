import { type Frame, type FrameDraft, held, put } from "./frame.ts";
import { Guard, type GuardedSlot, type GuardOptions } from "./guard.ts";

/** Binds one slot. */
export class SlotGuard extends Guard {
  private readonly slot: GuardedSlot;
  private value: unknown;

  constructor(slot: GuardedSlot, value: unknown, options: GuardOptions) {
    super(options);
    this.slot = slot;
    this.value = value;
  }

  protected override draft(parent: Frame): FrameDraft {
    const draft = put(parent, this.slot, held(this.value));
    // Frames made inside keep the guard, also those in which the slot is bound anew.
    this.value = undefined;
    return draft;
  }

  protected override slots(): readonly GuardedSlot[] {
    return [this.slot];
  }
}
