import { shared } from "./shared.ts";
import { frames, position, type Site } from "./site.ts";

/**
 * What was done wrong:
 *
 * - `"guard-across-await"`: a synchronous guard (`slot.with`, `new ThreadLocalStateGuard`) was
 *   still open one microtask later, so it crossed an `await` or a `yield`, and its binding may
 *   have reached the caller. Use the guard's `await …enter()` form.
 * - `"guard-across-yield"`: a guard was open at a `yield` of an iterator that `bindIterator` bound.
 *   The consumer did not see what it bound. Close it before the `yield`.
 * - `"guard-left-open"`: a guard was opened inside a `run`, `scoped` or `detached` and not closed
 *   before it returned, or one from outside was closed inside.
 * - `"guard-out-of-order"`: a guard was closed before one that was opened inside it. Its own
 *   bindings were undone, the inner guard's were left alone.
 * - `"guard-elsewhere"`: a guard was closed in a flow that is not inside it. Nothing was changed
 *   there.
 * - `"observer-threw"`: an observer of operators threw, or its promise was rejected. The operator
 *   went on as if it had not.
 * - `"observer-unknown"`: an observer was to be removed, enabled or disabled whose handle is not
 *   (or no longer) that of one. Nothing was changed.
 * - `"wire-rejected"`: a binding in a {@linkcode ThreadLocalState.fromWire} (or, without a key, the
 *   whole of it) was not taken over: too large, not JSON, not meant to cross, or refused by its
 *   slot's `decode`. The slot reads its initial value there.
 */
export type MisuseKind =
  | "guard-across-await"
  | "guard-across-yield"
  | "guard-left-open"
  | "guard-out-of-order"
  | "guard-elsewhere"
  | "observer-threw"
  | "observer-unknown"
  | "wire-rejected";

/** One use of the library that cannot have meant what it did. */
export interface MisuseReport {
  /** What was done wrong. */
  readonly kind: MisuseKind;
  /** The slot's key, or `undefined` where it is about a whole state or an observer. */
  readonly key: string | undefined;
  /** What happened, why it matters and what to do, for people. */
  readonly message: string;
  /**
   * Where the guard was created, if it is about one. A stack costs more than a guard, so not every guard records one:
   * the first 64 of each slot do, and the next 64 after each report that had none.
   * For an observer: where it threw, or where the unknown handle was given.
   */
  readonly stack: string | undefined;
}

type Listener = (report: MisuseReport) => void;

interface Channel {
  readonly listeners: Set<{ readonly listener: Listener }>;
  readonly warned: Set<string>;
}

/** A program that makes new sites for ever (by `eval`) must not fill the memory with them. */
const WARNED_AT_MOST = 1_000;

const channel = shared<Channel>("misuse", () => ({ listeners: new Set(), warned: new Set() }));

/**
 * Listens to reports of misuse. While nobody listens, each site warns once on the console.
 *
 * Reports cost nothing while nothing is wrong. An error that the listener throws is printed and
 * goes no further: reporting never throws into the code that is reported.
 *
 * @param listener Called synchronously with each report, in the state of the code it is about.
 * @returns A `Disposable` that stops listening. Unlike a guard it may outlive its block.
 * @throws {TypeError} If `listener` is not a function.
 *
 * @example Fail a test when a guard crosses an `await`
 * ```ts
 * import { type MisuseReport, onMisuse, ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const user = new ThreadLocal("onMisuse.user", { initial: "nobody" });
 * const reports: MisuseReport[] = [];
 * using _ = onMisuse((report) => reports.push(report));
 *
 * await (async () => {
 *   using _ = user.with("ann"); // wrong: should be `await user.enter("ann")`
 *   await Promise.resolve();
 * })();
 *
 * assertEquals(reports[0].kind, "guard-across-await");
 * assertEquals(reports[0].key, "onMisuse.user");
 * ```
 */
export function onMisuse(listener: (report: MisuseReport) => void): Disposable {
  if (typeof listener !== "function") {
    throw new TypeError(`Cannot listen to misuse: expected a function, got ${typeof listener}`);
  }
  // A fresh object each time: the same function may listen twice, and each stops on its own.
  const entry = { listener };
  channel.listeners.add(entry);
  return { [Symbol.dispose]: () => void channel.listeners.delete(entry) };
}

/** Tells the listeners, or the console once a place. Never throws. */
export function reportMisuse(
  kind: MisuseKind,
  key: string | undefined,
  message: string,
  site: Site | undefined,
  place: string = `${key} ${position(site)}`,
): void {
  try {
    const stack = frames(site);
    if (channel.listeners.size === 0) {
      const heading = kind.startsWith("guard") ? "The guard was created" : "It happened";
      warnOnce(`${kind} ${place}`, message, stack && `${heading}:\n${stack}`);
      return;
    }
    const report: MisuseReport = { kind, key, message, stack };
    for (const { listener } of [...channel.listeners]) {
      try {
        listener(report);
      } catch (error) {
        console.error("A listener of onMisuse threw:", error);
      }
    }
  } catch {
    // A console or a stack formatter of the user's that throws: there is nowhere left to tell.
  }
}

function warnOnce(site: string, message: string, where: string | undefined): void {
  if (channel.warned.has(site) || channel.warned.size >= WARNED_AT_MOST) return;
  channel.warned.add(site);
  console.warn(where === undefined ? message : `${message}\n${where}`);
}
