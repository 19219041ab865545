import { ThreadLocal } from "@thread-local/core";
import type { Help } from "./help.ts";

/**
 * Whose state a callback sees:
 *
 * - `"registered"`: that of whoever registered the callback, or began the work that goes on in it
 * - `"dispatcher"`: that of whoever made it happen: emits, posts, resolves, aborts, calls `next()`
 * - `"opened"`: that of whoever opened, or started, what it is registered on: a socket, server, port
 * - `"leaked"`: that of somebody who has nothing to do with it
 * - `"none"`: no slot is bound
 */
export type Seen = "registered" | "dispatcher" | "opened" | "leaked" | "none";

/** A way in which a callback comes to be called, played through to its end. */
export interface Probe {
  /** The callback, as the table names it. Unique. */
  readonly name: string;
  /** What one would bind, or detach, it with; none if it sees the right state by itself. */
  readonly help?: Help;
  /** `false` where the runtime does not have it. */
  readonly exists?: boolean;
  /** It needs a process of its own: for what it leaves behind, or because it collects garbage. */
  readonly alone?: boolean;
  /**
   * Registers, with {@linkcode registering}, a callback that calls `look`, makes it be called, and
   * closes what it opened. `looked` settles at the call; what `help` is given is helped, or not.
   */
  run(look: () => void, help: Help["give"], looked: Promise<void>): void | Promise<void>;
}

const state = new ThreadLocal<Seen>("where.state", { initial: "none", wire: true });

/** Whose state this is. */
export function current(): Seen {
  return state.get();
}

/** Calls `fn` in the state that is to be found again as `"registered"`. */
export function registering<R>(fn: () => R): R {
  return state.run("registered", fn);
}

/** Calls `fn` in the state that is to be found again as `"dispatcher"`. */
export function dispatching<R>(fn: () => R): R {
  return state.run("dispatcher", fn);
}

/** Calls `fn` in the state that is to be found again as `"opened"`. */
export function opening<R>(fn: () => R): R {
  return state.run("opened", fn);
}

/** Calls `fn` in a state that nobody should see but `fn`. */
export function leaking<R>(fn: () => R): R {
  return state.run("leaked", fn);
}

/** Calls `look` for a callback in another isolate, in the state that it said it saw. */
export function relaying(seen: Seen, look: () => void): void {
  state.run(seen, look);
}

/** Whose state the callback of a probe sees, with the probe's help or as it is. */
export async function see(probe: Probe, helped: boolean): Promise<Seen> {
  let seen: Seen | undefined;
  const looked = deferred();
  const look = (): void => {
    seen ??= current();
    looked.resolve();
  };
  await probe.run(look, helped ? probe.help!.give : (value) => value, looked.promise);
  await looked.promise;
  return seen!;
}

/** A promise and what settles it. */
export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** `Promise.withResolvers`, which Node 20 does not have. */
export function deferred(): Deferred {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => resolve = settle);
  return { promise, resolve };
}

/** Leaves the turn: what was begun in it has reached its first rest. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
