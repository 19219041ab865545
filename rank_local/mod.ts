/**
 * Logical threads, the nodes of deferred work that remember them, and one instance per thread.
 *
 * @example
 * ```ts
 * import { fork } from "@thread-local/core/propagation";
 * import { Node, RankLocal } from "@thread-local/core/rank-local";
 * import { assertEquals } from "@std/assert";
 *
 * const rank = new RankLocal("rank_local.example", () => ({ steps: 0 }));
 * const node = await fork(() => (rank.get().steps = 7, new Node("step", () => rank.get().steps)));
 *
 * assertEquals(node.evaluate(), 7);
 * assertEquals(rank.get().steps, 0);
 * ```
 *
 * @module
 */
export { Thread } from "../registry/thread.ts";
export { currentNode, currentThread } from "./current.ts";
export { endForeignThread, type LeaseOptions } from "./foreign.ts";
export { type EvaluateOptions, Node, type NodeWire } from "./node.ts";
export { RankLocal, type RankLocalOptions } from "./rank_local.ts";
