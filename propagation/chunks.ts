/** What a parallel loop runs over, and how. */
export interface ParallelRange {
  /** The first index: a safe integer. */
  readonly begin: number;
  /** The index after the last: a safe integer, not less than `begin`. */
  readonly end: number;
  /**
   * How many indexes one chunk has at most: an integer from 1, or `Infinity` for a single chunk.
   * Only the last chunk has fewer. Default: the range divided by `concurrency`, rounded up.
   */
  readonly grainSize?: number;
  /**
   * How many chunks run at once at most: an integer from 1, or `Infinity`. Default: 8. In one
   * isolate a loop overlaps waiting, not computing, so the number of processors is no guide.
   */
  readonly concurrency?: number;
  /** Ends the loop early, see {@linkcode parallelFor}. */
  readonly signal?: AbortSignal;
}

const CONCURRENCY = 8;

/** A range that was checked, with nothing left to default. */
export interface Chunks {
  readonly begin: number;
  readonly end: number;
  readonly grainSize: number;
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Checks a range and fills in its defaults.
 *
 * @throws {TypeError} If a field is not of its type.
 * @throws {RangeError} If a number is not one of those that the field can have.
 */
export function chunksOf(range: ParallelRange): Chunks {
  if (typeof range !== "object" || range === null) {
    throw new TypeError(
      `Cannot run a parallel loop: expected a range such as { begin: 0, end: 100 }, got ${
        range === null ? "null" : typeof range
      }`,
    );
  }
  const { begin, end, concurrency = CONCURRENCY, signal } = range;
  checkInteger("begin", begin);
  checkInteger("end", end);
  if (begin > end) {
    throw new RangeError(
      `Cannot run a parallel loop: begin (${begin}) must not be greater than end (${end})`,
    );
  }
  checkCount("concurrency", concurrency);
  const { grainSize = Math.max(1, Math.ceil((end - begin) / concurrency)) } = range;
  if (range.grainSize !== undefined) checkCount("grainSize", grainSize);
  if (signal !== undefined && typeof signal?.aborted !== "boolean") {
    throw new TypeError(
      `Cannot run a parallel loop: signal must be an AbortSignal, got ${
        signal === null ? "null" : typeof signal
      }`,
    );
  }
  return { begin, end, grainSize, concurrency, signal };
}

function checkInteger(name: string, value: unknown): void {
  checkNumber(name, value);
  if (Number.isSafeInteger(value)) return;
  throw new RangeError(`Cannot run a parallel loop: ${name} must be a safe integer, got ${value}`);
}

function checkCount(name: string, value: unknown): void {
  checkNumber(name, value);
  if (value === Infinity || Number.isSafeInteger(value) && (value as number) >= 1) return;
  throw new RangeError(
    `Cannot run a parallel loop: ${name} must be an integer from 1, or Infinity, got ${value}`,
  );
}

function checkNumber(name: string, value: unknown): void {
  if (typeof value === "number") return;
  throw new TypeError(`Cannot run a parallel loop: ${name} must be a number, got ${typeof value}`);
}

/**
 * Starts the chunks in ascending order, `concurrency` at once, and collects their results in that
 * order. After the first failure (a rejection, a throw, an abort) none is started, and those that
 * run are waited for: nothing of a loop goes on when it is over.
 */
export async function runChunks<R>(
  chunks: Chunks,
  start: (begin: number, end: number) => Promise<R>,
): Promise<R[]> {
  const { end, grainSize, concurrency, signal } = chunks;
  const results: R[] = [];
  let next = chunks.begin;
  let count = 0;
  let failure: { readonly reason: unknown } | undefined;

  const goesOn = (): boolean => {
    // Asked before a chunk's own failure is noted: a chunk that fails because of the abort is not
    // what went wrong first.
    if (failure === undefined && signal?.aborted) failure = { reason: signal.reason };
    return failure === undefined;
  };
  const lane = async (): Promise<void> => {
    while (goesOn() && next < end) {
      const from = next;
      const index = count++;
      next = Math.min(from + grainSize, end);
      try {
        results[index] = await start(from, next);
      } catch (reason) {
        if (goesOn()) failure = { reason };
      }
    }
  };

  const lanes: Promise<void>[] = [];
  while (lanes.length < concurrency && failure === undefined && next < end) lanes.push(lane());
  await Promise.all(lanes);
  if (!goesOn()) throw failure!.reason;
  return results;
}
