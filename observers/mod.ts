/**
 * Observers of operators: they are told when each range of work begins and ends, and find in its
 * state on whose behalf it runs.
 *
 * @example Book each operator to the user whose request it serves
 * ```ts
 * import { DebugInfoGuard, DebugInfoKind, ThreadLocalDebugInfo } from "@thread-local/core/guards";
 * import { addGlobalObserver, recordFunction, removeObserver } from "@thread-local/core/observers";
 * import { assertEquals } from "@std/assert";
 *
 * const USER = new DebugInfoKind<string>("observers.user");
 * const booked: string[] = [];
 * const handle = addGlobalObserver({
 *   start: ({ name }) => booked.push(`${ThreadLocalDebugInfo.get(USER)}: ${name}`),
 * });
 *
 * async function predict() {
 *   await Promise.resolve();
 *   recordFunction("matMul", { scope: "kernel-function" }, () => {});
 * }
 * await Promise.all([
 *   DebugInfoGuard.run(USER, "ann", predict),
 *   DebugInfoGuard.run(USER, "bob", predict),
 * ]);
 *
 * assertEquals(booked, ["ann: matMul", "bob: matMul"]);
 * await removeObserver(handle);
 * ```
 *
 * @module
 */
export {
  addGlobalObserver,
  addThreadLocalObserver,
  disableObserver,
  enableObserver,
  type Observer,
  type ObserverHandle,
  removeObserver,
} from "./observer.ts";
export { RecordFunction, recordFunction, type RecordFunctionOptions } from "./record_function.ts";
export { DisableRecordFunctionGuard, isRecordFunctionEnabled } from "./record_function_state.ts";
export type { RecordScope } from "./scope.ts";
