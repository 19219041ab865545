/**
 * State for work that goes to another isolate: pools of Web Workers, any `Worker` or `MessagePort`,
 * parallel loops on several processors. Only slots declared with `wire` go along.
 *
 * The worker's side of a pool is `@thread-local/core/workers/worker`.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { bindPort } from "@thread-local/core/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("workers.example", { initial: "nobody", wire: true });
 * const { port1, port2 } = new MessageChannel();
 * const bound = bindPort(port2);
 *
 * const received = new Promise((resolve) => {
 *   bound.onmessage = () => resolve(user.get());
 * });
 * user.run("ann", () => bindPort(port1).postMessage("hello"));
 *
 * assertEquals(await received, "ann");
 * port1.close();
 * bound.close();
 * ```
 *
 * @module
 */
export type { ParallelRange } from "../propagation/chunks.ts";
export type { WireLimits } from "../registry/wire.ts";
export { WorkerLostError } from "./errors.ts";
export { type Chunk, parallelFor } from "./parallel_for.ts";
export { threadLocalPool, type ThreadPool } from "./pool.ts";
export { bindPort, type BindPortOptions, type Port } from "./port.ts";
