import { currentFrame, type Frame } from "../registry/frame.ts";
import { makeInspectable } from "../registry/inspect.ts";
import { runIn } from "../registry/scope.ts";

type Callable = (...args: unknown[]) => unknown;
type Constructable = new (...args: unknown[]) => object;

/**
 * Restores the frame of the binding around each call of a function.
 *
 * A proxy, because it has the function's `name`, `length` and properties for nothing: to define the
 * two on a wrapper costs 40 times as much as to make one.
 */
class Restoring implements ProxyHandler<Callable> {
  private readonly frame: Frame;

  constructor(frame: Frame) {
    this.frame = frame;
  }

  apply(fn: Callable, self: unknown, args: unknown[]): unknown {
    return runIn(this.frame, Reflect.apply<unknown, unknown[], unknown>, [fn, self, args]);
  }

  construct(fn: Callable, args: unknown[], newTarget: Constructable): object {
    const construct: (...of: [Constructable, unknown[], Constructable]) => object =
      Reflect.construct;
    return runIn(this.frame, construct, [fn as unknown as Constructable, args, newTarget]);
  }
}

makeInspectable(Restoring.prototype, () => []);

/**
 * Captures the current state and returns a function that calls `fn` in it, however often and in
 * whatever flow it is called.
 *
 * Arguments, `this`, the result and what is thrown pass through. The returned function is a `Proxy`
 * of `fn`: its `name`, `length` and properties are those of `fn`, and `new` works if `fn` is a
 * class. Nothing that `fn` binds reaches its caller. A function that is bound twice is called in
 * the state of the first binding.
 *
 * To bind a method: `bindThreadLocalState(object.method.bind(object))`, or bind an arrow function.
 *
 * The capture happens now, not at the call: O(1), whatever is bound. A call costs about one
 * `AsyncLocalStorage.run`.
 *
 * @typeParam F The type of the function, kept as it is: overloads, `this` and properties too.
 * @param fn The function to call later.
 * @returns `fn`, called in the state of now.
 * @throws {TypeError} If `fn` is not a function.
 *
 * @example Keep the requester's state in a queue that runs its jobs when it likes
 * ```ts
 * import { bindThreadLocalState, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("bindThreadLocalState.user", { initial: "nobody" });
 * const jobs: (() => string)[] = [];
 *
 * user.run("ann", () => {
 *   jobs.push(() => user.get(), bindThreadLocalState(() => user.get()));
 * });
 *
 * assertEquals(jobs.map((job) => job()), ["nobody", "ann"]);
 * ```
 */
export function bindThreadLocalState<F extends (...args: never[]) => unknown>(fn: F): F {
  if (typeof fn !== "function") {
    throw new TypeError(`Cannot bind the state: expected a function, got ${typeof fn}`);
  }
  return new Proxy(fn as unknown as Callable, new Restoring(currentFrame())) as unknown as F;
}
