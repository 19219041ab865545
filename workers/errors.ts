/**
 * A worker ended (it exited, was terminated, or an error escaped in it) before it answered: whether
 * the task was done, wholly or in part, is not known. Run it again if that does no harm.
 *
 * @example Run a task again when its worker is gone
 * ```ts
 * import { WorkerLostError } from "@thread-local/core/workers";
 * import { assertEquals } from "@std/assert";
 *
 * async function twice<R>(task: () => Promise<R>): Promise<R> {
 *   try {
 *     return await task();
 *   } catch (error) {
 *     if (error instanceof WorkerLostError) return await task();
 *     throw error;
 *   }
 * }
 *
 * let calls = 0;
 * const result = await twice(() =>
 *   ++calls === 1 ? Promise.reject(new WorkerLostError("resize", "it exited")) : Promise.resolve(1)
 * );
 * assertEquals([result, calls], [1, 2]);
 * ```
 */
export class WorkerLostError extends Error {
  /** The name of the class. */
  override readonly name: string = "WorkerLostError";
  /** The name of the task, or `undefined` if it was the default one. */
  readonly task: string | undefined;
  private readonly why: string;

  /** Made by a pool that {@linkcode threadLocalPool} adapts. */
  constructor(task: string | undefined, why: string) {
    super(
      `The worker of ${task === undefined ? "a task" : `the task "${task}"`} ended before it ` +
        `answered: ${why}`,
    );
    this.task = task;
    this.why = why;
  }

  /** @internal The same for one task. */
  of(task: string | undefined): WorkerLostError {
    return new WorkerLostError(task, this.why);
  }
}
