import { currentFrame, ROOT } from "../registry/frame.ts";
import { runIn } from "../registry/scope.ts";
import { checkFunction } from "../registry/thread_local.ts";

/**
 * Calls `fn` so that nothing it leaves behind (`set`, `restoreThreadLocalState`, a guard left open
 * or one that crossed an `await`) reaches the caller.
 *
 * @returns What `fn` returns.
 * @throws What `fn` throws; a `TypeError` if it is not a function.
 *
 * @example Call a plug-in that is not trusted to clean up
 * ```ts
 * import { scoped, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("scoped.user", { initial: "nobody" });
 *
 * scoped(() => user.set("plug-in"));
 *
 * assertEquals(user.get(), "nobody");
 * ```
 */
export function scoped<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R {
  checkFunction(fn, "what is bound already");
  return runIn(currentFrame(), fn, args);
}

/**
 * Calls `fn` with no slot bound, on the root thread: for what outlives a request and must not
 * belong to one, such as opening a connection pool, starting an interval, filling a cache, or the
 * first `import()` of a module.
 *
 * @returns What `fn` returns.
 * @throws What `fn` throws; a `TypeError` if it is not a function.
 *
 * @example
 * ```ts
 * import { detached, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("detached.user", { initial: "nobody" });
 *
 * user.run("ann", () => {
 *   assertEquals(detached(() => user.get()), "nobody");
 * });
 * ```
 */
export function detached<A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R {
  checkFunction(fn, "nothing");
  return runIn(ROOT, fn, args);
}
