import { shared } from "../registry/shared.ts";
import { type Binding, type Methods, NodeBinding, TargetBinding } from "./_emitter_binding.ts";

/** An object whose listeners can be bound: an `EventTarget`, or an `EventEmitter` of `node:events`. */
export type Emitter = EventTarget | NodeEmitter;

/**
 * What tells an `EventEmitter` of `node:events` from other emitters. The parameters are left open:
 * emitters with typed events have their own.
 */
export interface NodeEmitter {
  /** Adds a listener. */
  on(...args: never): unknown;
  /** Adds a listener before the others. */
  prependListener(...args: never): unknown;
  /** Removes a listener. */
  removeListener(...args: never): unknown;
  /** Gives the listeners as they are kept. */
  rawListeners(...args: never): unknown;
}

/** A binding that was undone stays here: on an `EventTarget` it knows what can be removed still. */
const bindings: WeakMap<object, Binding> = shared("emitters", () => new WeakMap());

/**
 * From here on each listener that is added to `emitter` is called in the state of where it was
 * added. By itself it is called in the state of whoever dispatches.
 *
 * All else is as before: a listener is removed by the function it was added with, `once`, `signal`,
 * `capture` and objects with `handleEvent` work, an `EventTarget` keeps a listener that is added
 * twice once (in the state of the first time) and an `EventEmitter` twice (each in its own),
 * `listeners()` gives the functions that were added, `this` and results pass through.
 *
 * Listeners that are there already are not bound: bind an emitter where it is made. Handlers that
 * are properties (`onmessage`) are not bound either. The methods that are replaced are own
 * properties of `emitter`: `on`, `addListener`, `once`, `prependListener`, `prependOnceListener`
 * (`once` adds with `on` and removes with `removeListener`); `addEventListener`,
 * `removeEventListener`. Several calls for one emitter are as one, until all of them are undone.
 *
 * To add a listener costs one closure more, to call it about one `AsyncLocalStorage.run`.
 *
 * @param emitter An `EventTarget`, or an `EventEmitter` of `node:events`; or a prototype of such, for
 * all that inherit from it.
 * @returns A `Disposable` that gives the emitter its own methods back; unlike a guard it may outlive
 * its block. Listeners that were added before stay bound and removable: for that, an `EventTarget`
 * has its own methods back only when the last of them is removed by hand, or was called `once`.
 * @throws {TypeError} If `emitter` is neither of the two, or its properties cannot be changed.
 *
 * @example
 * ```ts
 * import { bindEmitter, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("bindEmitter.user", { initial: "nobody" });
 * const seen: string[] = [];
 * const listener = () => void seen.push(user.get());
 *
 * const jobs = new EventTarget();
 * bindEmitter(jobs);
 * user.run("ann", () => jobs.addEventListener("done", listener));
 *
 * jobs.dispatchEvent(new Event("done"));
 * jobs.removeEventListener("done", listener);
 * jobs.dispatchEvent(new Event("done"));
 *
 * assertEquals(seen, ["ann"]);
 * ```
 */
export function bindEmitter(emitter: Emitter): Disposable {
  let binding = bindings.get(emitter);
  if (binding === undefined) bindings.set(emitter, binding = begin(emitter));
  return binding.hold();
}

function begin(emitter: unknown): Binding {
  if (has(emitter, ["addEventListener", "removeEventListener", "dispatchEvent"])) {
    return new TargetBinding(emitter);
  }
  if (has(emitter, ["on", "prependListener", "removeListener", "rawListeners"])) {
    return new NodeBinding(emitter);
  }
  throw new TypeError(
    `Cannot bind the emitter: expected an EventTarget or an EventEmitter of node:events, got ${
      emitter === null ? "null" : typeof emitter
    } without their methods. Bind its listeners one by one with bindThreadLocalState(…)`,
  );
}

function has(emitter: unknown, methods: readonly string[]): emitter is Methods {
  return (typeof emitter === "object" || typeof emitter === "function") && emitter !== null &&
    methods.every((name) => typeof (emitter as Methods)[name] === "function");
}
