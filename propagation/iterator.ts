import { currentFrame, type Frame } from "../registry/frame.ts";
import { runIn, stepIn, type Steps } from "../registry/scope.ts";

/** What can be bound: an iterator or an iterable, sync or async. */
export type Iteration =
  | { next(...value: never): unknown }
  | { [Symbol.iterator](): unknown }
  | { [Symbol.asyncIterator](): unknown };

/**
 * What {@linkcode bindIterator} makes of an `I`: a generator for a generator, an iterator of the
 * language for another, a bare iterator for a bare one, an iterable for an iterable.
 *
 * @typeParam I What is bound.
 */
export type BoundIteration<I> = I extends Generator<infer T, infer R, infer N> ? Generator<T, R, N>
  : I extends AsyncGenerator<infer T, infer R, infer N> ? AsyncGenerator<T, R, N>
  : I extends IteratorObject<infer T, infer R, infer N> ? IteratorObject<T, R, N>
  : I extends AsyncIteratorObject<infer T, infer R, infer N> ? AsyncIteratorObject<T, R, N>
  : I extends IterableIterator<infer T, infer R, infer N> ? IterableIterator<T, R, N>
  : I extends AsyncIterableIterator<infer T, infer R, infer N> ? AsyncIterableIterator<T, R, N>
  : I extends Iterator<infer T, infer R, infer N> ? Iterator<T, R, N>
  : I extends AsyncIterator<infer T, infer R, infer N> ? AsyncIterator<T, R, N>
  : I extends Iterable<infer T, infer R, infer N> ? Iterable<T, R, N>
  : I extends AsyncIterable<infer T, infer R, infer N> ? AsyncIterable<T, R, N>
  : never;

/** What an iterator, or an iterable, may have. */
type Protocol = { readonly [name in string | symbol]?: unknown };

/** Each is one step. Which of them there are is decided when binding. */
const STEPS = ["next", "return", "throw", Symbol.dispose, Symbol.asyncDispose] as const;

const BEGINNINGS = [Symbol.iterator, Symbol.asyncIterator] as const;

/** What all iterators of the language inherit: the helpers (`map`, `take`), `[Symbol.iterator]()`. */
const syncPrototype: object = above(above(function* (): Generator {}.prototype));
const asyncGeneratorPrototype: object = above(async function* (): AsyncGenerator {}.prototype);
const asyncPrototype: object = above(asyncGeneratorPrototype);

function above(object: object): object {
  return Object.getPrototypeOf(object);
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
 * (an array, a `Map`) gives an iterable: each time it is iterated, its iterator is begun
 * and bound in the state captured here. What is bound has the protocol's methods and, for an
 * iterator of the language, its helpers (`map`, `take`); not what else the object had.
 *
 * Binding is O(1). A step costs about one `AsyncLocalStorage.run`.
 *
 * @typeParam I Its type; see {@linkcode BoundIteration}.
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
export function bindIterator<I extends Iteration>(it: I): BoundIteration<I> {
  const of = it as unknown as Protocol | undefined | null;
  if (typeof of?.next === "function") {
    return bindSteps(of, currentFrame()) as BoundIteration<I>;
  }
  if (of !== null && of !== undefined && BEGINNINGS.some((name) => has(of, name))) {
    return bindBeginnings(of, currentFrame()) as BoundIteration<I>;
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
  const inTurn = isAsyncGenerator(it) ? queue() : undefined;
  for (const name of STEPS) {
    const method = it[name];
    if (typeof method !== "function") continue;
    const step = (...args: unknown[]): unknown =>
      stepIn(steps, Reflect.apply<unknown, unknown[], unknown>, [method as never, it, args]);
    bound[name] = inTurn === undefined
      ? step
      : (...args: unknown[]): unknown => inTurn(() => step(...args) as Promise<unknown>);
  }
  return bound;
}

/**
 * Begins a step when the one before it is over. An async generator queues its steps itself, but
 * runs those that had to wait in no frame of ours.
 */
function queue(): (step: () => Promise<unknown>) => Promise<unknown> {
  let last: Promise<unknown> | undefined;
  return (step) => {
    const begun = last === undefined ? step() : last.then(step, step);
    const over = (): void => {
      if (last === result) last = undefined;
    };
    const result: Promise<unknown> = begun.then((value) => {
      over();
      return value;
    }, (error) => {
      over();
      throw error;
    });
    return last = result;
  };
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

function isAsyncGenerator(it: Protocol): boolean {
  return Object.prototype.isPrototypeOf.call(asyncGeneratorPrototype, it);
}
