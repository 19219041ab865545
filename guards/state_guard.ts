import { copy, type Frame, type FrameDraft } from "../registry/frame.ts";
import { Guard, type SiteBudget, siteBudget } from "../registry/guard.ts";
import { frameOf, type ThreadLocalState } from "../registry/state.ts";
import { guardForAsync } from "../registry/thread_local.ts";

const sites: SiteBudget = siteBudget();

/**
 * A guard that puts a saved state in the place of the current one for a scope. At its end it brings
 * the previous state back whole, whatever was left unbalanced inside.
 *
 * `using _ = new ThreadLocalStateGuard(state);` is for a synchronous block,
 * `using _ = await ThreadLocalStateGuard.enter(state);` for the rest of an async function.
 *
 * @example
 * ```ts
 * import { saveThreadLocalState, ThreadLocal, ThreadLocalStateGuard } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("state_guard.user", { initial: "nobody" });
 * const state = user.run("ann", saveThreadLocalState);
 * {
 *   using _ = new ThreadLocalStateGuard(state);
 *   assertEquals(user.get(), "ann");
 * }
 * assertEquals(user.get(), "nobody");
 * ```
 */
export class ThreadLocalStateGuard extends Guard {
  private state: Frame | undefined;

  /**
   * A guard for a synchronous block.
   *
   * @throws {TypeError} If `state` is not a state.
   */
  constructor(state: ThreadLocalState);
  /** @internal */
  constructor(state: ThreadLocalState, sync: boolean);
  constructor(state: ThreadLocalState, sync: boolean = true) {
    const frame = frameOf(state, "guard");
    super({ sync, sites, above: sync ? new.target : ThreadLocalStateGuard.enter });
    this.state = frame;
  }

  /**
   * A guard for the rest of an async function.
   *
   * @throws {TypeError} (rejects) If `state` is not a state, or this runtime has no asynchronous
   * context.
   *
   * @example
   * ```ts
   * import { saveThreadLocalState, ThreadLocal, ThreadLocalStateGuard } from "@thread-local/core";
   * import { assertEquals } from "@std/assert";
   *
   * const user = new ThreadLocal("state_guard.async", { initial: "nobody" });
   * const state = user.run("ann", saveThreadLocalState);
   *
   * async function work() {
   *   using _ = await ThreadLocalStateGuard.enter(state);
   *   await Promise.resolve();
   *   return user.get();
   * }
   *
   * assertEquals(await work(), "ann");
   * ```
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter(state: ThreadLocalState): Promise<ThreadLocalStateGuard> {
    return guardForAsync(new ThreadLocalStateGuard(state, false));
  }

  /** @internal */
  protected override draft(): FrameDraft {
    const state = this.state!;
    // Frames made inside keep the guard: it must not keep the state for them.
    this.state = undefined;
    return copy(state, state.length);
  }

  /** @internal */
  protected override slots(): undefined {
    return undefined;
  }
}
