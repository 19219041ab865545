/** What a case measures with. */
export interface Meter {
  /** Calls `op` in a synchronous loop, in the state that this is called in. */
  time(op: () => unknown): void;
  /** Calls `op` and awaits it, one call after the other. */
  timeAsync(op: () => Promise<unknown>): Promise<void>;
  /** Gives a value that the case measured itself, such as bytes. */
  value(measured: number): void;
}

/** Measures one thing: sets up, and gives the meter one operation, or one value. */
export type Case = (meter: Meter) => void | Promise<void>;

/**
 * A line of the table: a case of ours, its baseline, and how far apart they may be.
 * Each layer declares its own in `benches/cases/<layer>.ts`, as `export const rows`.
 */
export interface Row {
  /** What is compared, unique in the layer. */
  readonly what: string;
  readonly ours: Case;
  /** The baseline. Without one, the limit is of the measured value itself. */
  readonly raw?: Case;
  readonly limit: Limit;
  /** How many of what the line is about one call of the operation does. Default: 1. */
  readonly perCall?: number;
}

/** The greatest ratio of ours to raw that is right, the greatest difference, or the greatest value. */
export interface Limit {
  readonly most: number;
  readonly unit: "ratio" | "times faster" | "ns" | "bytes";
}

/** Ours may cost up to `ratio` times the baseline. */
export function atMost(ratio: number): Limit {
  return { most: ratio, unit: "ratio" };
}

/** Ours may cost at most `1 / times` of the baseline. */
export function fasterBy(times: number): Limit {
  return { most: 1 / times, unit: "times faster" };
}

/** Ours may take that many nanoseconds more than the baseline; without one, that many in all. */
export function nanosecondsAtMost(nanoseconds: number): Limit {
  return { most: nanoseconds, unit: "ns" };
}

/** The case gives bytes, not time. */
export function bytesAtMost(bytes: number): Limit {
  return { most: bytes, unit: "bytes" };
}
