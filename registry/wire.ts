import {
  brief,
  carriedAt,
  CarriedBinding,
  type CarriedBindings,
  carriedIn,
  decodeBinding,
  putCarried,
  rejectBinding,
} from "./carried.ts";
import {
  boundIndexes,
  type Frame,
  type FrameDraft,
  lookUp,
  put,
  ROOT,
  valueOf,
  write,
} from "./frame.ts";
import { copyJson, type JsonValue, Refusal } from "./json.ts";
import { reportMisuse } from "./misuse.ts";
import { slots, ThreadLocal } from "./thread_local.ts";

/**
 * The form of a state that crosses an isolate or a process: JSON values only, so that it may be
 * sent as a message, as JSON text, in a header.
 */
export interface StateWire {
  /** The version of the form. */
  readonly version: 1;
  /**
   * Each binding as key and value; a pair without a value is a binding of `undefined`. Pairs, not
   * an object: a key such as `"__proto__"` is a string like any other.
   */
  readonly bindings: readonly (readonly [key: string, value?: JsonValue])[];
}

/** How much {@linkcode ThreadLocalState.fromWire} takes from a stranger. */
export interface WireLimits {
  /** How many bindings. Default: 1,024. */
  readonly maxEntries?: number;
  /** How many UTF-16 code units a key may have. Default: 1,024. */
  readonly maxKeyLength?: number;
  /**
   * How large all bindings may be together: the UTF-16 code units of keys and strings, plus one for
   * each other value. Default: 1,048,576.
   */
  readonly maxSize?: number;
  /** How many arrays and objects may be nested in each other. Default: 32. */
  readonly maxDepth?: number;
}

/** Limits with nothing left to default. */
export type CheckedLimits = Required<WireLimits>;

const VERSION = 1;
const MAX_DEPTH = 32;

const DEFAULTS: CheckedLimits = {
  maxEntries: 1_024,
  maxKeyLength: 1_024,
  maxSize: 1_048_576,
  maxDepth: MAX_DEPTH,
};

/** JSON text may be this many times as long as its strings: `"\u0000"`, and what stands between. */
const TEXT_FACTOR = 8;

/**
 * The wire form of a frame.
 *
 * @throws {TypeError} If a value is not JSON or an `encode` throws: half a state is not sent.
 */
export function encodeFrame(frame: Frame): StateWire {
  const whole = settleCarried(frame);
  const bindings: [string, JsonValue?][] = [];
  for (const index of boundIndexes(whole)) {
    const slot = slots.byIndex[index];
    if (slot.wire === undefined) continue;
    const value = encode(slot, valueOf(lookUp(whole, slot)));
    bindings.push(value === undefined ? [slot.key] : [slot.key, value]);
  }
  for (const [key, { value }] of carriedIn(whole) ?? []) {
    bindings.push(value === undefined ? [key] : [key, value as JsonValue]);
  }
  return { version: VERSION, bindings };
}

function encode(slot: ThreadLocal<unknown>, value: unknown): JsonValue | undefined {
  const wire = slot.wire!;
  try {
    const encoded = wire === true ? value : wire.encode(value);
    return encoded === undefined ? undefined : copyJson(encoded, { left: Infinity }, MAX_DEPTH);
  } catch (error) {
    throw new TypeError(
      error instanceof Refusal
        ? `Cannot put "${slot.key}" on the wire: ${error.why}. ` +
          `Bind a JSON value, or declare the slot with wire: { encode, decode }`
        : `Cannot put "${slot.key}" on the wire: ${brief(error)}`,
      error instanceof Refusal ? undefined : { cause: error },
    );
  }
}

/** The frame of a wire, on the root thread. Whatever is wrong with it is reported and left out. */
export function decodeFrame(wire: unknown, limits: CheckedLimits): Frame {
  try {
    return readBindings(readHeader(wire, limits), limits);
  } catch (error) {
    const why = error instanceof Refusal ? error.why : brief(error);
    const message = `Cannot read a wire: ${why}. Its state is empty: every slot reads its ` +
      `initial value there. Send what ThreadLocalState.toWire() returns`;
    reportMisuse("wire-rejected", undefined, message, undefined, "wire");
    return ROOT;
  }
}

/** The bindings of a wire, not looked into yet. */
function readHeader(wire: unknown, limits: CheckedLimits): readonly unknown[] {
  if (typeof wire === "string") {
    if (wire.length > limits.maxSize * TEXT_FACTOR) {
      throw new Refusal(`its text is longer than ${TEXT_FACTOR} times maxSize`);
    }
    wire = JSON.parse(wire);
  }
  if (typeof wire !== "object" || wire === null) {
    throw new Refusal(`expected an object, got ${wire === null ? "null" : typeof wire}`);
  }
  const { version, bindings } = wire as Partial<Record<keyof StateWire, unknown>>;
  if (version !== VERSION) {
    throw new Refusal(`its version is ${brief(version)}, and this one reads ${VERSION}`);
  }
  if (!Array.isArray(bindings)) throw new Refusal(`its bindings are not an array`);
  return bindings;
}

function readBindings(bindings: readonly unknown[], limits: CheckedLimits): Frame {
  const budget = { left: limits.maxSize };
  const carried = new Map<string, CarriedBinding>();
  const frame: FrameDraft = [...ROOT];
  const count = Math.min(bindings.length, limits.maxEntries);
  for (let i = 0; i < count; i++) {
    // What is left out takes no room from the others.
    const { left } = budget;
    const pair = bindings[i];
    try {
      const key = readKey(pair, limits.maxKeyLength);
      budget.left -= key.length;
      const sent = (pair as readonly unknown[])[1];
      const value = sent === undefined ? undefined : copyJson(sent, budget, limits.maxDepth);
      const slot = slots.byKey.get(key);
      if (slot === undefined ? carried.has(key) : lookUp(frame, slot) !== undefined) {
        throw new Refusal(`it is bound twice`);
      }
      if (slot === undefined) {
        // Before the next decode, which may declare this very slot: it must know where to look.
        reserveCarried();
        carried.set(key, new CarriedBinding(value));
      } else write(frame, slot, decodeBinding(slot, value));
    } catch (error) {
      budget.left = left;
      reject(pair, error, limits);
    }
  }
  if (bindings.length > count) {
    const more = bindings.length - count;
    const why = `the wire has ${more} more than the ${count} bindings that maxEntries allows`;
    reject(bindings[count], new Refusal(why), limits);
  }
  return carried.size === 0 ? frame : putCarried(frame, carried);
}

function readKey(pair: unknown, maxKeyLength: number): string {
  if (!Array.isArray(pair) || typeof pair[0] !== "string") {
    throw new Refusal(`a binding must be an array of key and value`);
  }
  const key = pair[0];
  if (key === "" || key.length > maxKeyLength) {
    throw new Refusal(
      `its key has ${key.length} characters, and 1 to ${maxKeyLength} are allowed`,
    );
  }
  return key;
}

function reject(pair: unknown, error: unknown, { maxKeyLength }: CheckedLimits): void {
  const key = keyOf(pair).slice(0, maxKeyLength);
  rejectBinding(key, slots.byKey.has(key), error instanceof Refusal ? error.why : brief(error));
}

function keyOf(pair: unknown): string {
  return Array.isArray(pair) && typeof pair[0] === "string" ? pair[0] : "?";
}

/** Takes a place in frames for carried bindings, once. No one finds it by a key. */
function reserveCarried(): void {
  if (carriedAt.place !== undefined) return;
  const key = "@thread-local/core carried";
  const slot = new ThreadLocal<CarriedBindings | undefined>(key, { redact: true, shared: true });
  slots.byKey.delete(key);
  carriedAt.place = { place: slot.place, offset: slot.offset };
}

/**
 * The frame with each carried binding in the place of its slot, where that is declared by now. To
 * be called before a frame's slots are looked through.
 */
export function settleCarried(frame: Frame): Frame {
  const carried = carriedIn(frame);
  if (carried === undefined) return frame;
  const rest = new Map(carried);
  let settled = frame;
  for (const [key, binding] of carried) {
    const slot = slots.byKey.get(key);
    if (slot === undefined) continue;
    rest.delete(key);
    if (lookUp(frame, slot) !== undefined) continue;
    const found = binding.read(slot);
    if (found !== undefined) settled = put(settled, slot, found);
  }
  return rest.size === carried.size ? frame : putCarried(settled, rest);
}

/**
 * Checks limits and fills in their defaults.
 *
 * @throws {TypeError} If one is not a number of 0 or more.
 */
export function checkLimits(limits: WireLimits): CheckedLimits {
  const all = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof WireLimits)[]) {
    const limit = limits[name] ?? DEFAULTS[name];
    if (typeof limit !== "number" || !(limit >= 0)) {
      throw new TypeError(
        `Cannot read a wire: ${name} must be a number of 0 or more, got ${brief(limit)}`,
      );
    }
    all[name] = limit;
  }
  return all;
}
