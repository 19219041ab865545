import { chunksOf, type ParallelRange, runChunks } from "../propagation/chunks.ts";
import { parallelFor as parallelForHere } from "../propagation/parallel_for.ts";
import { currentFrame } from "../registry/frame.ts";
import { runIn } from "../registry/scope.ts";
import { threadLocalPool, type ThreadPool } from "./pool.ts";

export type { ParallelRange };

/** What a task of a parallel loop gets: one chunk of its range. */
export interface Chunk {
  /** Its first index. */
  readonly begin: number;
  /** The index after its last. */
  readonly end: number;
}

/**
 * `parallelFor` on a pool: splits a range of integers into chunks and executes the task of this name
 * for each, on the pool's workers, in the caller's state. It is the same call as without a pool: the
 * same ranges, results in the order of the chunks, the same behaviour at a failure and an abort
 * (running chunks are waited for).
 *
 * At most `concurrency` chunks run at once; its default is the number of workers that the pool may
 * have, so that each gets one.
 *
 * @typeParam Response What the task returns.
 * @param range Where it begins and ends, and how it is split.
 * @param task The name of the task; it is called with a {@linkcode Chunk}.
 * @param pool The pool; it need not be adapted.
 * @returns A promise of the chunks' results, in order.
 * @throws {TypeError} (rejects) If an argument is not what it should be.
 *
 * @example
 * ```ts
 * import { parallelFor, threadLocalPool } from "@thread-local/core/workers";
 * import { FixedThreadPool } from "poolifier-web-worker";
 * import { assertEquals } from "@std/assert";
 *
 * const worker = `
 *   import { threadLocalWorker } from "${import.meta.resolve("@thread-local/core/workers/worker")}";
 *   threadLocalWorker({
 *     sum({ begin, end }) {
 *       let sum = 0;
 *       for (let i = begin; i < end; i++) sum += i;
 *       return sum;
 *     },
 *   });
 * `;
 * const pool = threadLocalPool(
 *   new FixedThreadPool<{ begin: number; end: number }, number>(
 *     2,
 *     `data:text/javascript,${encodeURIComponent(worker)}`,
 *   ),
 * );
 *
 * assertEquals(await parallelFor({ begin: 0, end: 10 }, "sum", pool), [10, 35]);
 * await pool.destroy();
 * ```
 */
export function parallelFor<Response>(
  range: ParallelRange,
  task: string,
  pool: ThreadPool<Chunk, Response>,
): Promise<Response[]>;
/** `parallelFor` in this isolate, as `@thread-local/core/propagation` has it. */
export function parallelFor<R>(
  range: ParallelRange,
  body: (begin: number, end: number) => R | PromiseLike<R>,
): Promise<R[]>;
export async function parallelFor<R>(
  range: ParallelRange,
  task: string | ((begin: number, end: number) => R | PromiseLike<R>),
  pool?: ThreadPool<Chunk, R>,
): Promise<R[]> {
  if (pool === undefined) return await parallelForHere(range, task as () => R);
  if (typeof task !== "string") {
    throw new TypeError(
      `Cannot run a parallel loop on a pool: expected the name of a task, got ${typeof task}. ` +
        `A function stays in its isolate; give it to threadLocalWorker({ name: fn })`,
    );
  }
  const adapted = threadLocalPool(pool);
  const chunks = chunksOf({ concurrency: adapted.info.maxSize, ...range });
  // Not read at each chunk: a chunk that starts later must see what the first ones saw.
  const frame = currentFrame();
  const start = (begin: number, end: number): Promise<R> =>
    runIn(frame, () => adapted.execute({ begin, end }, task), []);
  return await runChunks(chunks, start);
}
