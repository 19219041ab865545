import { type Frame, held, lookUp, type Place, put, ROOT, storage } from "./frame.ts";
import { reportMisuse } from "./misuse.ts";
import { shared } from "./shared.ts";

/** What reading a binding from a wire needs to know of its slot. */
export interface WireSlot {
  readonly key: string;
  readonly wire: true | { decode(wire: unknown): unknown } | undefined;
}

/** A binding of a slot that was not declared here when its wire came. */
export class CarriedBinding {
  /** The JSON value, as it came; `undefined` if the binding was one of `undefined`. */
  readonly value: unknown;
  private state: "raw" | "reading" | "read" = "raw";
  private found: unknown = undefined;

  constructor(value: unknown) {
    this.value = value;
  }

  /**
   * What stands for it in a frame, now that `slot` is declared: `undefined` if it was rejected.
   * Decoded once, so that every read gives the same object.
   */
  read(slot: WireSlot): unknown {
    // A decode that reads its own slot sees the initial value.
    if (this.state === "reading") return undefined;
    if (this.state === "raw") {
      this.state = "reading";
      this.found = decodeBinding(slot, this.value);
      this.state = "read";
    }
    return this.found;
  }
}

/** The carried bindings of a frame, by key. Never written after it is in a frame. */
export type CarriedBindings = ReadonlyMap<string, CarriedBinding>;

/**
 * Where a frame keeps them: a place like a slot's, taken when the first wire with an unknown key
 * comes. Slots declared before that moment never look there.
 */
export const carriedAt: { place: Place | undefined } = shared("carried at", () => ({
  place: undefined,
}));

/** The carried bindings of a frame, if any. */
export function carriedIn(frame: Frame): CarriedBindings | undefined {
  const { place } = carriedAt;
  return place === undefined ? undefined : lookUp(frame, place) as CarriedBindings | undefined;
}

/** The frame with these carried bindings in the place of its own. */
export function putCarried(frame: Frame, carried: CarriedBindings): Frame {
  return put(frame, carriedAt.place!, carried.size === 0 ? undefined : carried);
}

/** What stands for a slot that the frame itself does not bind, as `lookUp` would give it. */
export function lookUpCarried(frame: Frame, slot: WireSlot): unknown {
  return carriedIn(frame)?.get(slot.key)?.read(slot);
}

/** The frame without the carried binding of this key. */
export function dropCarried(frame: Frame, key: string): Frame {
  const carried = carriedIn(frame);
  if (carried === undefined || !carried.has(key)) return frame;
  const rest = new Map(carried);
  rest.delete(key);
  return putCarried(frame, rest);
}

/**
 * Reads the JSON value of a declared slot: what stands for it in a frame, or `undefined` after a
 * report. Its `decode` sees no slot bound, and nothing that it binds outlives it.
 */
export function decodeBinding(slot: WireSlot, value: unknown): unknown {
  const { key, wire } = slot;
  if (wire === true) return held(value);
  if (wire === undefined) {
    rejectBinding(key, true, `the slot is declared without "wire" here`);
    return undefined;
  }
  try {
    return held(storage.run(ROOT, () => wire.decode(value)));
  } catch (error) {
    rejectBinding(key, true, `its decode() threw: ${brief(error)}`);
    return undefined;
  }
}

/** Reports a binding that is not taken over from a wire. */
export function rejectBinding(key: string, declared: boolean, why: string): void {
  const message = `Cannot read ${brief(key)} from a wire: ${why}. ` +
    `The slot reads its initial value there`;
  // Keys of strangers are no site: they could use up the warnings that others need.
  reportMisuse("wire-rejected", key, message, undefined, declared ? key : "undeclared");
}

const SHOWN = 200;

/** What a stranger sent, short enough for a message and on one line. */
export function brief(what: unknown): string {
  try {
    const text = typeof what === "string" ? JSON.stringify(what) : String(what);
    return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
  } catch {
    return "(a value that cannot be printed)";
  }
}
