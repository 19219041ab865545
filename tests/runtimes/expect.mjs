import { ThreadLocal } from "@thread-local/core";

/** Declares a slot for one check. */
export function slot(key, options) {
  return new ThreadLocal(`smoke.${key}`, options);
}

/** What `using` does: the first read of `Symbol.dispose` takes the guard. */
export function using(guard, fn) {
  const close = guard[Symbol.dispose];
  try {
    return fn();
  } finally {
    close.call(guard);
  }
}

/** Leaves the turn. */
export function turn() {
  return new Promise((resolve) => setTimeout(resolve));
}

/** What `fn` throws. */
export function thrown(fn) {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown");
}

/** Whether the runtime has the syntax of `source`. */
export function parses(source) {
  try {
    new Function(source);
    return true;
  } catch {
    return false;
  }
}

/** Throws unless the two are the same, or arrays of the same. */
export function equal(actual, expected) {
  if (same(actual, expected)) return;
  throw new Error(`Expected ${show(expected)}, got ${show(actual)}`);
}

function same(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && a.every((each, n) => same(each, b[n]));
}

function show(value) {
  return Array.isArray(value) ? `[${value.map(show).join(", ")}]` : String(value);
}
