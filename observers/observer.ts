import type { RecordFunction } from "./record_function.ts";
import { recordFunctionSlot } from "./record_function_state.ts";
import { book, find, register, type Registration } from "./registration.ts";
import type { RecordScope } from "./scope.ts";
import { captureSite } from "../registry/site.ts";

/**
 * One that is told of every range of operators: when it begins and when it ends.
 *
 * Nothing that an observer does disturbs the operator: what it throws is reported through
 * `onMisuse` and goes no further, and what it binds ends with its `start` or `end` (a thread-local
 * observer that it adds, too). Operators that it runs in there are not observed; those that it runs
 * after an `await` are: have them in a {@linkcode DisableRecordFunctionGuard}, or they have it run
 * for ever.
 *
 * @typeParam C What its `start` hands to its `end`.
 */
export interface Observer<C = unknown> {
  /**
   * A range begins; called in the state of the code that begins it. What it returns is passed to
   * `end` of the same range.
   */
  start?(range: RecordFunction): C;
  /**
   * A range ends; called in the state of the code that ends it, with what `start` returned
   * (`undefined` if it threw).
   */
  end?(range: RecordFunction, context: C): void;
  /** The scopes that it is told of. Default: all. */
  readonly scopes?: readonly RecordScope[];
  /** The probability, from 0 (never) to 1 (always, the default), with which it is told of a range. */
  readonly sampling?: number;
  /** Whether it reads {@linkcode RecordFunction.inputs}. Default: `false`. */
  readonly needsInputs?: boolean;
  /** Whether it reads {@linkcode RecordFunction.outputs}. Default: `false`. */
  readonly needsOutputs?: boolean;
  /** Whether it reads {@linkcode RecordFunction.id}. Default: `false`. */
  readonly needsIds?: boolean;
}

/** The number of an observer that was added: ascending in the isolate, never reused. */
export type ObserverHandle = number;

/**
 * Adds an observer of the ranges of every flow of this isolate.
 *
 * @typeParam C What its `start` hands to its `end`.
 * @throws {TypeError} If it is not an observer, or a scope is not one.
 * @throws {RangeError} If its sampling is not a number from 0 to 1.
 *
 * @example
 * ```ts
 * import { addGlobalObserver, recordFunction, removeObserver } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * const handle = addGlobalObserver({
 *   start: () => performance.now(),
 *   end: ({ name }, started) => lines.push(`${name}: ${performance.now() - started >= 0}`),
 * });
 *
 * assertEquals(recordFunction("add", {}, () => 1 + 2), 3);
 *
 * assertEquals(lines, ["add: true"]);
 * await removeObserver(handle);
 * ```
 */
export function addGlobalObserver<C>(observer: Observer<C>): ObserverHandle {
  return register(observer as Observer<unknown>, (registration) => {
    book.global = [...book.global, registration];
  });
}

/**
 * Adds an observer of the ranges of the current flow, from here on, and of those that start from it:
 * it is part of the state. Like `slot.set`, it is seen by the caller of an async function that has
 * not awaited yet; use `scoped` or `fork` to keep it in.
 *
 * @typeParam C What its `start` hands to its `end`.
 * @throws {TypeError} If it is not an observer, or a scope is not one.
 * @throws {RangeError} If its sampling is not a number from 0 to 1.
 * @throws {TypeError} Also if this runtime cannot bind without a callback; see `contextStorage`.
 *
 * @example
 * ```ts
 * import { scoped } from "@thread-local/core";
 * import { addThreadLocalObserver, recordFunction } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const names: string[] = [];
 * scoped(() => {
 *   addThreadLocalObserver({ start: ({ name }) => names.push(name) });
 *   recordFunction("inside", {}, () => {});
 * });
 * recordFunction("outside", {}, () => {});
 *
 * assertEquals(names, ["inside"]);
 * ```
 */
export function addThreadLocalObserver<C>(observer: Observer<C>): ObserverHandle {
  return register(observer as Observer<unknown>, (registration) => {
    const slot = recordFunctionSlot();
    const state = slot.get();
    slot.set({ ...state, local: [...state.local.filter(isLive), registration] });
  });
}

/**
 * Removes an observer, global or thread-local, in every flow at once. Ranges that it was told of
 * still end for it. A handle that is unknown, or was removed before, is reported through `onMisuse`.
 *
 * @returns A promise that is fulfilled when the last of those ranges has ended: from then on the
 * observer is not called. It never rejects; a range that is never ended keeps it pending.
 *
 * @example
 * ```ts
 * import { addGlobalObserver, RecordFunction, removeObserver } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const ended: string[] = [];
 * const handle = addGlobalObserver({ end: ({ name }) => ended.push(name) });
 * const range = new RecordFunction("read");
 *
 * const drained = removeObserver(handle);
 * range.end();
 *
 * await drained;
 * assertEquals(ended, ["read"]);
 * ```
 */
export function removeObserver(handle: ObserverHandle): Promise<void> {
  const registration = find(handle, "remove", () => captureSite(removeObserver));
  if (registration === undefined) return Promise.resolve();
  book.byHandle.delete(handle);
  book.live--;
  registration.removed = true;
  book.global = book.global.filter(isLive);
  // Other flows that see it skip it; this one can drop it.
  dropRemoved();
  if (registration.open === 0) return Promise.resolve();
  return new Promise((resolve) => registration.drained = resolve);
}

function dropRemoved(): void {
  const slot = recordFunctionSlot();
  const { local, enabled } = slot.get();
  const live = local.filter(isLive);
  if (live.length === local.length) return;
  if (live.length === 0 && enabled) slot.clear();
  else slot.set({ local: live, enabled });
}

function isLive(registration: Registration): boolean {
  return !registration.removed;
}

/**
 * Tells an observer again of ranges that begin from here on, in every flow that sees it. An unknown
 * handle is reported through `onMisuse`.
 *
 * @example
 * ```ts
 * import {
 *   addGlobalObserver,
 *   disableObserver,
 *   enableObserver,
 *   recordFunction,
 *   removeObserver,
 * } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const names: string[] = [];
 * const handle = addGlobalObserver({ start: ({ name }) => names.push(name) });
 *
 * disableObserver(handle);
 * recordFunction("hidden", {}, () => {});
 * enableObserver(handle);
 * recordFunction("seen", {}, () => {});
 *
 * assertEquals(names, ["seen"]);
 * await removeObserver(handle);
 * ```
 */
export function enableObserver(handle: ObserverHandle): void {
  const registration = find(handle, "enable", () => captureSite(enableObserver));
  if (registration !== undefined) registration.enabled = true;
}

/**
 * Stops telling an observer of ranges that begin, in every flow that sees it, until it is enabled.
 * Ranges that it was told of still end for it. An unknown handle is reported through `onMisuse`.
 *
 * @example
 * ```ts
 * import {
 *   addGlobalObserver,
 *   disableObserver,
 *   recordFunction,
 *   removeObserver,
 * } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * let ranges = 0;
 * const handle = addGlobalObserver({ start: () => ranges++ });
 * disableObserver(handle);
 *
 * recordFunction("hidden", {}, () => {});
 *
 * assertEquals(ranges, 0);
 * await removeObserver(handle);
 * ```
 */
export function disableObserver(handle: ObserverHandle): void {
  const registration = find(handle, "disable", () => captureSite(disableObserver));
  if (registration !== undefined) registration.enabled = false;
}
