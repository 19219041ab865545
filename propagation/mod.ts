/**
 * Where the state goes: what follows it, and what is kept from it.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { detached } from "@thread-local/core/propagation";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("propagation.example", { initial: "nobody" });
 *
 * assertEquals(user.run("ann", () => detached(() => user.get())), "nobody");
 * ```
 *
 * @module
 */
export { bindThreadLocalState } from "./bind.ts";
export type { ParallelRange } from "./chunks.ts";
export { detached, scoped } from "./confine.ts";
export { bindEmitter, type Emitter, type NodeEmitter } from "./emitter.ts";
export { fork, type ForkOptions } from "./fork.ts";
export { bindIterator, type BoundIteration, type Iteration } from "./iterator.ts";
export { parallelFor } from "./parallel_for.ts";
