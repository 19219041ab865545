import type { Frame } from "../registry/frame.ts";
import type { WorkerNumber } from "../registry/thread.ts";
import { encodeFrame, type StateWire } from "../registry/wire.ts";

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

/**
 * The wire of a frame, to be sealed with each message that is sent in it.
 *
 * @throws {TypeError} If a value is not JSON.
 */
export function wireText(frame: Frame): string {
  const wire: StateWire = encodeFrame(frame);
  return JSON.stringify(wire);
}

/** Whether a message is an envelope, and not one of somebody who knows nothing of this package. */
export function isEnvelope(message: unknown): message is Envelope {
  return typeof message === "object" && message !== null &&
    Object.hasOwn(message, MARK) && Object.hasOwn(message, "data");
}
