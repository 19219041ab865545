import { currentFrame, NODE, THREAD } from "../registry/frame.ts";
import type { Thread } from "../registry/thread.ts";
import type { Node } from "./node.ts";

/**
 * The logical thread of the current flow: the root thread of this isolate, or the one that the
 * nearest fork around it began. While a node is evaluated it is the evaluating thread, not the
 * node's forward thread. O(1), allocates nothing (its `id` is computed when it is read).
 *
 * @example
 * ```ts
 * import { currentThread, fork } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const parent = currentThread();
 *
 * const child = await fork(() => currentThread(), { name: "child" });
 *
 * assertEquals([child.name, child.parentId], ["child", parent.id]);
 * ```
 */
export function currentThread(): Thread {
  return currentFrame()[THREAD] as Thread;
}

/**
 * The node that is being evaluated by the current flow, or `undefined` outside of one. O(1).
 *
 * @example
 * ```ts
 * import { currentNode, Node } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const node = new Node("mul", () => currentNode()?.name);
 *
 * assertEquals(node.evaluate(), "mul");
 * assertEquals(currentNode(), undefined);
 * ```
 */
export function currentNode(): Node | undefined {
  return currentFrame()[NODE] as Node | undefined;
}
