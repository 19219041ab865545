import { currentFrame, type Frame } from "../registry/frame.ts";
import { runIn, stepIn, type Steps } from "../registry/guard.ts";

/** What an iterator, or an iterable, may have. */
type Protocol = { readonly [name in string | symbol]?: unknown };

/** Each is one step. Which of them there are is decided when binding. */
const STEPS = ["next", "return", "throw", Symbol.dispose, Symbol.asyncDispose] as const;

const BEGINNINGS = [Symbol.iterator, Symbol.asyncIterator] as const;

/** What all iterators of the language inherit: the helpers (`map`, `take`), `[Symbol.iterator]()`. */
const syncPrototype: object = builtIn(function* (): Generator {}.prototype);
const asyncPrototype: object = builtIn(async function* (): AsyncGenerator {}.prototype);

function builtIn(generator: object): object {
  return Object.getPrototypeOf(Object.getPrototypeOf(generator));
}

/**
 * Captures the current state for an iterator: each of its steps (`next`, `return`, `throw`, the
 * disposal) runs in that state, whoever consumes it. By itself the body of a generator runs in the
 * state of whoever calls `next()`.
 *
 * The body has a frame of its own: what it binds with `set` is there at its next step, and never
 * reaches the consumer. A guard that is open at a `yield` works in the same way and is reported
 * ({@linkcode onMisuse}, `"guard-across-yield"`), because the body of an unbound generator would
 * change its consumer's state with it.
 *
 * An *async* generator's body keeps for its next steps what it binds before the first `await` of a
 * step. What it binds after that, and what a guard binds, ends at the `yield`: no platform shows
 * what an async body has entered when it yields. Bind around the iterator instead.
 *
 * An iterator (a generator too) gives an iterator that is consumed with the original. An iterable
 * (an array, a `ReadableStream`) gives an iterable: each time it is iterated, its iterator is begun
 * and bound in the state captured here. What is bound has the protocol's methods and, for an
 * iterator of the language, its helpers (`map`, `take`); not what else the object had.
 *
 * Binding is O(1). A step costs about one `AsyncLocalStorage.run`.
 *
 * @typeParam T What it yields.
 * @typeParam R What it returns.
 * @typeParam N What `next` takes.
 * @param it A sync or async iterator, iterable or generator.
 * @returns The same, bound.
 * @throws {TypeError} If it is neither an iterator nor an iterable.
 *
 * @example
 * ```ts
 * import { bindIterator, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const tenant = new ThreadLocal("bindIterator.tenant", { initial: "none" });
 *
 * function* rows() {
 *   for (const id of [1, 2]) yield `${tenant.get()}/${id}`;
 * }
 *
 * const mine = tenant.run("acme", () => bindIterator(rows()));
 *
 * assertEquals([...rows()], ["none/1", "none/2"]);
 * assertEquals([...mine], ["acme/1", "acme/2"]);
 * ```
 */
export function bindIterator<T, R, N>(it: Generator<T, R, N>): Generator<T, R, N>;
/** An async generator. */
export function bindIterator<T, R, N>(it: AsyncGenerator<T, R, N>): AsyncGenerator<T, R, N>;
/** An iterator of the language, such as those of an array. */
export function bindIterator<T, R, N>(it: IteratorObject<T, R, N>): IteratorObject<T, R, N>;
/** An async iterator of the platform. */
export function bindIterator<T, R, N>(
  it: AsyncIteratorObject<T, R, N>,
): AsyncIteratorObject<T, R, N>;
/** An iterator that is its own iterable. */
export function bindIterator<T, R, N>(it: IterableIterator<T, R, N>): IterableIterator<T, R, N>;
/** An async iterator that is its own iterable. */
export function bindIterator<T, R, N>(
  it: AsyncIterableIterator<T, R, N>,
): AsyncIterableIterator<T, R, N>;
/** An iterator that has nothing but the protocol's methods. */
export function bindIterator<T, R, N>(it: Iterator<T, R, N>): Iterator<T, R, N>;
/** An async iterator that has nothing but the protocol's methods. */
export function bindIterator<T, R, N>(it: AsyncIterator<T, R, N>): AsyncIterator<T, R, N>;
/** An iterable. */
export function bindIterator<T, R, N>(it: Iterable<T, R, N>): Iterable<T, R, N>;
/** An async iterable. */
export function bindIterator<T, R, N>(it: AsyncIterable<T, R, N>): AsyncIterable<T, R, N>;
export function bindIterator(it: unknown): unknown {
  const of = it as Protocol | undefined | null;
  if (typeof of?.next === "function") return bindSteps(of, currentFrame());
  if (of !== null && of !== undefined && BEGINNINGS.some((name) => has(of, name))) {
    return bindBeginnings(of, currentFrame());
  }
  throw new TypeError(
    `Cannot bind the iterator: expected an iterator or an iterable, got ${
      it === null ? "null" : typeof it
    }${typeof it === "function" ? ". Call a generator function, and bind what it returns" : ""}`,
  );
}

function has(of: Protocol, name: string | symbol): boolean {
  return typeof of[name] === "function";
}

/** An iterator: all of its steps are in one frame, which goes on from step to step. */
function bindSteps(it: Protocol, frame: Frame): object {
  const steps: Steps = { frame };
  const bound = Object.create(prototypeFor(it));
  for (const name of STEPS) {
    const method = it[name];
    if (typeof method !== "function") continue;
    bound[name] = (...args: unknown[]): unknown =>
      stepIn(steps, Reflect.apply<unknown, unknown[], unknown>, [method as never, it, args]);
  }
  return bound;
}

/** An iterable: every iterator that it begins is bound to the frame captured for the iterable. */
function bindBeginnings(it: Protocol, frame: Frame): object {
  const bound: Record<symbol, unknown> = {};
  for (const name of BEGINNINGS) {
    const method = it[name];
    if (typeof method !== "function") continue;
    bound[name] = (): object =>
      bindSteps(runIn(frame, () => Reflect.apply(method, it, []), []), frame);
  }
  return bound;
}

function prototypeFor(it: Protocol): object {
  if (has(it, Symbol.asyncIterator)) return asyncPrototype;
  if (has(it, Symbol.iterator)) return syncPrototype;
  return Object.prototype;
}
