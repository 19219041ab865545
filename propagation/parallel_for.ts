import { currentFrame } from "../registry/frame.ts";
import { chunksOf, type ParallelRange, runChunks } from "./chunks.ts";
import { forkFrom } from "./fork.ts";

/**
 * Splits a range of integers into chunks and calls `body(begin, end)` for each, several at once.
 * Every chunk is a {@linkcode fork} of the caller: it sees the caller's state as it is at the call,
 * and binds only for itself. That holds at every size, also for a range of one chunk.
 *
 * Chunks start in ascending order; those of the first `concurrency` that can start do so
 * synchronously. They share this isolate: a loop of synchronous bodies takes as long as a plain
 * one.
 *
 * After the first chunk that fails no other is started, the running ones are waited for, and the
 * loop rejects with that first error; what other chunks throw is dropped. An abort is the same,
 * with `signal.reason`: also where the chunks that were running succeed. An empty range
 * (`begin === end`) calls nothing and resolves, unless the signal is aborted already.
 *
 * @typeParam R What `body` returns, or what the promise that it returns resolves to.
 * @param range Where it begins and ends, and how it is split.
 * @param body Called for each chunk, with its first index and the index after its last.
 * @returns A promise of the chunks' results, in the order of the chunks. It rejects as said above;
 * with a `TypeError` or a `RangeError` if the range or the body is not one, and then calls nothing.
 *
 * @example
 * ```ts
 * import { parallelFor, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const unit = new ThreadLocal("parallelFor.unit", { initial: "m" });
 *
 * const chunks = await unit.run("km", () =>
 *   parallelFor({ begin: 0, end: 5, grainSize: 2 }, async (begin, end) => {
 *     await Promise.resolve();
 *     return `${begin}–${end} ${unit.get()}`;
 *   }));
 *
 * assertEquals(chunks, ["0–2 km", "2–4 km", "4–5 km"]);
 * ```
 *
 * @example Give up when the first result is in
 * ```ts
 * import { parallelFor } from "@thread-local/core";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const found = new AbortController();
 * const seen: number[] = [];
 *
 * await assertRejects(() =>
 *   parallelFor(
 *     { begin: 0, end: 100, grainSize: 1, concurrency: 1, signal: found.signal },
 *     (begin) => {
 *       seen.push(begin);
 *       if (begin === 2) found.abort(new Error("found"));
 *     },
 *   ), Error, "found");
 *
 * assertEquals(seen, [0, 1, 2]);
 * ```
 */
// deno-lint-ignore require-await -- a bad argument must reject, not throw.
export async function parallelFor<R>(
  range: ParallelRange,
  body: (begin: number, end: number) => R | PromiseLike<R>,
): Promise<R[]> {
  const chunks = chunksOf(range);
  if (typeof body !== "function") {
    throw new TypeError(
      `Cannot run a parallel loop: expected a function to call for each chunk, got ${typeof body}`,
    );
  }
  // Not read at each chunk: a chunk that starts later must see what the first ones saw.
  const parent = currentFrame();
  const name = body.name || "parallelFor";
  return runChunks(
    chunks,
    (begin, end): Promise<R> => forkFrom(parent, name, body, [begin, end]) as Promise<R>,
  );
}
