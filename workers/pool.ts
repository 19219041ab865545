import { currentFrame, type Frame } from "../registry/frame.ts";
import { seal, wireText } from "./_envelope.ts";
import { unpackError } from "./_failure.ts";
import { forward } from "./_forward.ts";
import { WorkerLostError } from "./errors.ts";
import { type Pool, watchWorkers } from "./_pool_workers.ts";

/**
 * A `FixedThreadPool` or `DynamicThreadPool` of `poolifier-web-worker`, as far as it is used here.
 *
 * @typeParam Data What its tasks take.
 * @typeParam Response What they return.
 */
export interface ThreadPool<Data = never, Response = unknown> {
  /** What the pool says of itself. */
  readonly info: { readonly maxSize: number };
  /** Executes a task. */
  execute(
    data?: Data,
    name?: string,
    abortSignal?: AbortSignal,
    transferList?: readonly Transferable[],
  ): Promise<Response>;
  /** Executes a task for each of the data. */
  mapExecute(
    data: Iterable<Data>,
    name?: string,
    abortSignals?: Iterable<AbortSignal>,
    transferList?: readonly Transferable[],
  ): Promise<Response[]>;
}

/** Both a pool and its adapter lead to the adapter. */
const adapters = new WeakMap<object, object>();

/**
 * Adapts a pool of `poolifier-web-worker` so that each task runs in the state of its caller, on
 * workers that are made with `threadLocalWorker` (of `@thread-local/core/workers/worker`).
 *
 * The result is the same pool, with its own methods and types, in which `execute` and `mapExecute`
 *
 * - send what the caller binds of the slots declared with `wire`, and run the task as a thread of
 *   its own;
 * - reject with errors of the class, message, cause, stack and plain properties that the task threw;
 *   of a class that only the worker has, with its nearest built-in class;
 * - reject with the signal's reason as soon as it aborts, also where it is aborted already;
 * - reject with {@linkcode WorkerLostError} when the worker ends before it has answered.
 *
 * The pool's workers are begun with no slot bound: they belong to no caller. An error
 * that escapes in a worker ends that worker only; the pool emits it and starts another.
 *
 * A worker that exits by itself is noticed where the platform has Web Locks or a `close` event (Deno,
 * browsers, Bun).
 *
 * @typeParam P The type of the pool.
 * @param pool A `FixedThreadPool` or `DynamicThreadPool`. Adapting one again gives the same adapter.
 * @returns The adapted pool.
 * @throws {TypeError} If it is not such a pool, of a version that this adapter knows. `execute` and
 * `mapExecute` reject with one if a slot's value cannot be sent.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { threadLocalPool } from "@thread-local/core/workers";
 * import { FixedThreadPool } from "poolifier-web-worker";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("threadLocalPool.user", { initial: "nobody", wire: true });
 *
 * const worker = `
 *   import { threadLocalWorker } from "${import.meta.resolve("@thread-local/core/workers/worker")}";
 *   import { ThreadLocal } from "${import.meta.resolve("@thread-local/core")}";
 *   const user = new ThreadLocal("threadLocalPool.user", { initial: "nobody", wire: true });
 *   threadLocalWorker({ greet: (greeting) => greeting + " " + user.get() });
 * `;
 * const pool = threadLocalPool(
 *   new FixedThreadPool<string, string>(1, `data:text/javascript,${encodeURIComponent(worker)}`),
 * );
 *
 * assertEquals(await user.run("ann", () => pool.execute("hello", "greet")), "hello ann");
 * await pool.destroy();
 * ```
 */
export function threadLocalPool<P extends ThreadPool>(pool: P): P {
  checkPool(pool);
  const adapter = adapters.get(pool);
  if (adapter !== undefined) return adapter as P;
  const plain = pool as unknown as Pool;
  watchWorkers(plain);
  const adapted = forward(pool, {
    execute: (...args: Parameters<Pool["execute"]>) => execute(plain, currentFrame(), ...args),
    mapExecute: (...args: Parameters<Pool["mapExecute"]>) => mapExecute(plain, ...args),
  });
  adapters.set(pool, adapted).set(adapted, adapted);
  return adapted;
}

async function execute(
  pool: Pool,
  frame: Frame,
  data?: unknown,
  name?: string,
  signal?: AbortSignal,
  transferList?: readonly Transferable[],
): Promise<unknown> {
  const sealed = seal(wireText(frame), data ?? {});
  try {
    if (!(signal instanceof AbortSignal)) {
      return await pool.execute(sealed, name, signal, transferList);
    }
    const start = ([own]: readonly AbortSignal[]) => pool.execute(sealed, name, own, transferList);
    return await untilAborted([signal], start);
  } catch (error) {
    throw failureOf(error, name);
  }
}

async function mapExecute(
  pool: Pool,
  data: Iterable<unknown>,
  name?: string,
  signals?: Iterable<AbortSignal>,
  transferList?: readonly Transferable[],
): Promise<unknown[]> {
  const wire = wireText(currentFrame());
  // What is wrong with the arguments is for the pool to say.
  const sealed = isIterable(data)
    ? Array.from(data, (item) => seal(wire, item ?? {}))
    : data as Iterable<unknown>;
  const given = isIterable(signals) ? [...signals] : undefined;
  const start = (own: Iterable<AbortSignal> | undefined) =>
    pool.mapExecute(sealed, name, own, transferList);
  try {
    return given?.every((signal) => signal instanceof AbortSignal)
      ? await untilAborted(given, start)
      : await start(given ?? signals);
  } catch (error) {
    throw failureOf(error, name);
  }
}

/** What the caller gets for what the pool rejects with. */
function failureOf(error: unknown, task: string | undefined): unknown {
  return error instanceof WorkerLostError ? error.of(task) : unpackError(error);
}

function isIterable<T>(value: Iterable<T> | undefined): value is Iterable<T> {
  return typeof value?.[Symbol.iterator] === "function";
}

/**
 * Starts with signals of its own: the pool listens to them for ever and does not look whether they
 * are aborted already. Rejects at the first abort, also where the pool lets the task go on.
 */
async function untilAborted<R>(
  signals: readonly AbortSignal[],
  start: (own: readonly AbortSignal[]) => Promise<R>,
): Promise<R> {
  for (const signal of signals) signal.throwIfAborted();
  const over = new AbortController();
  const controllers = signals.map(() => new AbortController());
  const aborted = new Promise<never>((_, reject) => {
    signals.forEach((signal, i) => {
      signal.addEventListener("abort", () => {
        controllers[i].abort(signal.reason);
        reject(signal.reason);
      }, { once: true, signal: over.signal });
    });
  });
  try {
    return await Promise.race([start(controllers.map(({ signal }) => signal)), aborted]);
  } finally {
    over.abort();
  }
}

const METHODS = ["execute", "mapExecute", "sendToWorker", "createAndSetupWorkerNode"];

function checkPool(pool: ThreadPool): void {
  const parts = (pool ?? {}) as unknown as Record<string, unknown>;
  const known = METHODS.every((name) => typeof parts[name] === "function") &&
    Array.isArray(parts.workerNodes) && parts.promiseResponseMap instanceof Map;
  if (known) return;
  throw new TypeError(
    `Cannot adapt this pool: expected a FixedThreadPool or DynamicThreadPool of ` +
      `poolifier-web-worker 0.5, got ${pool === null ? "null" : typeof pool}`,
  );
}
