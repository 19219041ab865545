/**
 * Thread-local state for TypeScript: declare each variable once, read it anywhere below, save and
 * restore the whole set in O(1).
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("mod.user", { initial: "nobody" });
 *
 * const log = (line: string) => `${user.get()}: ${line}`;
 *
 * assertEquals(user.run("ann", () => log("hello")), "ann: hello");
 * ```
 *
 * @module
 */
export * from "./registry/mod.ts";
export * from "./guards/mod.ts";
export * from "./propagation/mod.ts";
export * from "./rank_local/mod.ts";
