import { bindThreadLocalState, ThreadLocal } from "@thread-local/core";

/** The part of a `ThreadLocal` that the demo uses. */
interface Variable<T> {
  get(): T;
  run<A extends unknown[], R>(value: T, fn: (...args: A) => R, ...args: A): R;
}

/** What the demo has in its place when the library is switched off: one value for everyone. */
class ModuleVariable<T> implements Variable<T> {
  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  run<A extends unknown[], R>(value: T, fn: (...args: A) => R, ...args: A): R {
    this.value = value;
    return fn(...args);
  }
}

/** Whether the library is switched off, here and in the workers. */
export const off: boolean = Deno.args.includes("--off");

/** Who the current request comes from. With `wire` it goes along to a worker. */
export const user: Variable<string> = off
  ? new ModuleVariable("nobody")
  : new ThreadLocal("demo.user", { initial: "nobody", wire: true });

/** Which request it is. */
export const requestId: Variable<string> = off
  ? new ModuleVariable("none")
  : new ThreadLocal("demo.requestId", { initial: "none", wire: true });

/** Keeps a callback with the request that made it, whoever calls it and when. */
export const bind: typeof bindThreadLocalState = off ? (fn) => fn : bindThreadLocalState;
