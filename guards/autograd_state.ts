import type { Edit } from "./edit_guard.ts";
import { declareLate } from "./late_slot.ts";
import { shared } from "../registry/shared.ts";
import type { WireCodec } from "../registry/slot_options.ts";
import type { ThreadLocal } from "../registry/thread_local.ts";

/** What an {@linkcode AutogradState} says. */
export interface AutogradModes {
  /** Whether operators are recorded for backward. */
  readonly gradMode: boolean;
  /** Whether tangents are computed in forward mode. */
  readonly forwardGradMode: boolean;
  /** Whether what is computed can never take part in autograd. */
  readonly inferenceMode: boolean;
  /** Whether backward may use more than one thread. */
  readonly multithreading: boolean;
}

const MODES = ["gradMode", "forwardGradMode", "inferenceMode", "multithreading"] as const;

/** One bit a mode, in the order of {@linkcode MODES}. */
export const GRAD = 1;
export const FORWARD_GRAD = 2;
export const INFERENCE = 4;
const MULTITHREADING = 8;

/**
 * How autograd behaves: four modes in one immutable value, in one slot (PyTorch's `AutogradState`).
 *
 * There are sixteen of them, made once: equal ones are the same object, and changing a mode
 * allocates nothing.
 *
 * @example Override grad mode in a saved state, as backward does for `createGraph`
 * ```ts
 * import { saveThreadLocalState } from "@thread-local/core";
 * import { AutogradState, isGradEnabled } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * const forward = saveThreadLocalState();
 * const { slot } = AutogradState;
 * const backward = forward.with(slot, forward.get(slot).with({ gradMode: false }));
 *
 * assertFalse(backward.run(isGradEnabled));
 * assert(forward.run(isGradEnabled));
 * ```
 */
export class AutogradState implements AutogradModes {
  /** Whether operators are recorded for backward. Initially `true`. */
  readonly gradMode: boolean;
  /** Whether tangents are computed in forward mode. Initially `true`. */
  readonly forwardGradMode: boolean;
  /** Whether what is computed can never take part in autograd. Initially `false`. */
  readonly inferenceMode: boolean;
  /** Whether backward may use more than one thread. Initially `true`. */
  readonly multithreading: boolean;
  /** @internal The modes as bits: the index of this one among the sixteen. */
  readonly bits: number;

  private constructor(bits: number) {
    this.gradMode = (bits & GRAD) !== 0;
    this.forwardGradMode = (bits & FORWARD_GRAD) !== 0;
    this.inferenceMode = (bits & INFERENCE) !== 0;
    this.multithreading = (bits & MULTITHREADING) !== 0;
    this.bits = bits;
  }

  /** The slot that holds it. It may go with a state to another isolate or process. */
  static get slot(): ThreadLocal<AutogradState> {
    return slot();
  }

  /** What the current flow sees. O(1), allocates nothing. */
  static get current(): AutogradState {
    return slot().get();
  }

  /** @internal Makes the sixteen. */
  static makeAll(): readonly AutogradState[] {
    return Array.from({ length: 1 << MODES.length }, (_, bits) => new AutogradState(bits));
  }

  /**
   * The state that differs in these modes. O(1), allocates nothing.
   *
   * @throws {TypeError} If a mode is not a boolean.
   */
  with(modes: Partial<AutogradModes>): AutogradState {
    let { bits } = this;
    MODES.forEach((name, index) => {
      const mode = modes[name];
      if (mode === undefined) return;
      checkMode(name, mode);
      bits = mode ? bits | (1 << index) : bits & ~(1 << index);
    });
    return states[bits];
  }
}

const states = shared("autograd states", AutogradState.makeAll);

const wire: WireCodec<AutogradState> = {
  encode: ({ gradMode, forwardGradMode, inferenceMode, multithreading }) => ({
    gradMode,
    forwardGradMode,
    inferenceMode,
    multithreading,
  }),
  decode: (modes) => {
    for (const name of MODES) checkMode(name, (modes as AutogradModes)[name]);
    return states[0].with(modes as AutogradModes);
  },
};

const slot = declareLate<AutogradState>("autogradState", {
  initial: states[GRAD | FORWARD_GRAD | MULTITHREADING],
  wire,
});

/**
 * Whether operators are recorded for backward: the grad mode that the current flow sees.
 *
 * @example
 * ```ts
 * import { isGradEnabled, NoGradGuard } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([isGradEnabled(), NoGradGuard.run(isGradEnabled)], [true, false]);
 * ```
 */
export function isGradEnabled(): boolean {
  return slot().get().gradMode;
}

/**
 * Whether tangents are computed in forward mode: the forward grad mode that the current flow sees.
 *
 * @example
 * ```ts
 * import { AutoFwGradMode, isForwardGradEnabled } from "@thread-local/core/guards";
 * import { assertFalse } from "@std/assert";
 *
 * assertFalse(AutoFwGradMode.run(false, isForwardGradEnabled));
 * ```
 */
export function isForwardGradEnabled(): boolean {
  return slot().get().forwardGradMode;
}

/**
 * Whether the current flow is in inference mode.
 *
 * @example
 * ```ts
 * import { InferenceMode, isInferenceModeEnabled } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   [isInferenceModeEnabled(), InferenceMode.run(true, isInferenceModeEnabled)],
 *   [false, true],
 * );
 * ```
 */
export function isInferenceModeEnabled(): boolean {
  return slot().get().inferenceMode;
}

/**
 * Whether backward may use more than one thread, as the current flow sees it.
 *
 * @example
 * ```ts
 * import { AutogradState, isMultithreadingEnabled } from "@thread-local/core/guards";
 * import { assertFalse } from "@std/assert";
 *
 * const alone = AutogradState.current.with({ multithreading: false });
 *
 * assertFalse(AutogradState.slot.run(alone, isMultithreadingEnabled));
 * ```
 */
export function isMultithreadingEnabled(): boolean {
  return slot().get().multithreading;
}

/** Sets the modes of the mask to the bits of `to`; undone, these modes are as they were before. */
export function editModes(mask: number, to: number): Edit<AutogradState> {
  return {
    get slot(): ThreadLocal<AutogradState> {
      return slot();
    },
    apply: (outside) => states[(outside.bits & ~mask) | (to & mask)],
    undo: (before, visible) => states[(visible.bits & ~mask) | (before.bits & mask)],
  };
}

/** Throws unless `mode` is a boolean: a forgotten argument must not switch something off. */
export function checkMode(name: string, mode: unknown): void {
  if (typeof mode !== "boolean") {
    throw new TypeError(`Cannot set ${name}: expected true or false, got ${typeof mode}`);
  }
}
