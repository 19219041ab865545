/**
 * Guards: they bind for a lexical scope and unbind at its end.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { ThreadLocalStateGuard } from "@thread-local/core/guards";
 * import { saveThreadLocalState } from "@thread-local/core/registry";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("guards.example", { initial: "nobody" });
 * const state = saveThreadLocalState();
 * user.run("ann", () => {
 *   using _ = new ThreadLocalStateGuard(state);
 *   assertEquals(user.get(), "nobody");
 * });
 * ```
 *
 * @module
 */
export { Guard } from "../registry/guard.ts";
export { type MisuseKind, type MisuseReport, onMisuse } from "../registry/misuse.ts";
export { ThreadLocalStateGuard } from "./state_guard.ts";
