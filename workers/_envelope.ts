import { carriedIn } from "../registry/carried.ts";
import { boundIndexes, type Frame, lookUp, ROOT } from "../registry/frame.ts";
import { makeInspectable } from "../registry/inspect.ts";
import type { WorkerNumber } from "../registry/thread.ts";
import { slots } from "../registry/thread_local.ts";
import {
  type CheckedLimits,
  checkLimits,
  decodeFrame,
  encodeFrame,
  type WireLimits,
} from "../registry/wire.ts";

/** Marks what this package sends among the messages of others. */
export const MARK = "@thread-local/core";

/** A message together with the state that it was sent in. */
export interface Envelope {
  /** The wire, not read yet: it may come from anyone. */
  readonly [MARK]: unknown;
  /** The message. */
  data: unknown;
  /** For the first tasks of a worker: what its thread ids begin with. */
  worker?: WorkerNumber;
}

/** Puts a message together with a wire: as text, which is cloned faster than nested arrays. */
export function seal(wire: string, data: unknown): Envelope {
  // Not [MARK]: a literal key makes a literal of a fixed shape.
  return { "@thread-local/core": wire, data };
}

/** The wires of frames whose values no one can change: several messages of one request share it. */
const texts = new WeakMap<Frame, string>();

/**
 * The wire of a frame, to be sealed with each message that is sent in it.
 *
 * @throws {TypeError} If a value is not JSON.
 */
export function wireText(frame: Frame): string {
  let text = texts.get(frame);
  if (text !== undefined) return text;
  text = JSON.stringify(encodeFrame(frame));
  if (isFixed(frame)) texts.set(frame, text);
  return text;
}

/** The frames of wires, for one sender after the other: the last one is often the next one too. */
export class WireReader {
  private last: { readonly wire: unknown; readonly frame: Frame } | undefined = undefined;
  private readonly limits: CheckedLimits;

  /** @throws {TypeError} If a limit is not a number of 0 or more. */
  constructor(limits: WireLimits = {}) {
    this.limits = checkLimits(limits);
  }

  /** The frame of a wire; see `decodeFrame`. */
  read(wire: unknown): Frame {
    if (typeof wire === "string" && this.last?.wire === wire) return this.last.frame;
    const frame = decodeFrame(wire, this.limits);
    this.last = frame !== ROOT && isFixed(frame) ? { wire, frame } : undefined;
    return frame;
  }
}

makeInspectable(WireReader.prototype, () => []);

/** Whether all that the frame sends is plain, so that the same wire stands for it for ever. */
function isFixed(frame: Frame): boolean {
  if (carriedIn(frame) !== undefined) return false;
  for (const index of boundIndexes(frame)) {
    const slot = slots.byIndex[index];
    if (slot.wire === undefined) continue;
    const value = lookUp(frame, slot);
    if (slot.wire !== true || typeof value === "object" && value !== null) return false;
  }
  return true;
}

/** Whether a message is an envelope, and not one of somebody who knows nothing of this package. */
export function isEnvelope(message: unknown): message is Envelope {
  return typeof message === "object" && message !== null &&
    Object.hasOwn(message, MARK) && Object.hasOwn(message, "data");
}
