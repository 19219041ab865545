import type { Observer, ObserverHandle } from "./observer.ts";
import type { RecordFunction } from "./record_function.ts";
import { ALL_SCOPES, bitOf } from "./scope.ts";
import { currentFrame, storage } from "../registry/frame.ts";
import { reportMisuse } from "../registry/misuse.ts";
import { shared } from "../registry/shared.ts";
import type { Site } from "../registry/site.ts";

/** An observer that was added, and what holds of it until it is removed. */
export interface Registration {
  readonly handle: ObserverHandle;
  readonly observer: Observer<unknown>;
  readonly scopes: number;
  readonly sampling: number;
  readonly needsInputs: boolean;
  readonly needsOutputs: boolean;
  readonly needsIds: boolean;
  /** Shared by every flow that sees the observer, as are the fields below. */
  enabled: boolean;
  removed: boolean;
  /** The ranges that were started for it and have not ended. */
  open: number;
  /** Called when it is removed and no range is open. */
  drained: (() => void) | undefined;
}

interface Book {
  /** How many observers there may be that have not been removed: 0 means that no range is observed. */
  live: number;
  lastHandle: number;
  lastRangeId: number;
  /** By ascending handle. Replaced, never written. */
  global: readonly Registration[];
  /** Weak: a thread-local observer goes with the last flow that sees it. */
  readonly byHandle: Map<ObserverHandle, WeakRef<Registration>>;
  readonly collected: FinalizationRegistry<ObserverHandle>;
  /** An observer is running: the operators that it runs itself are not observed. */
  observing: boolean;
}

/** The observers of this isolate. */
export const book = shared<Book>("observers", () => {
  const book: Book = {
    live: 0,
    lastHandle: 0,
    lastRangeId: 0,
    global: [],
    byHandle: new Map(),
    collected: new FinalizationRegistry((handle) => {
      if (book.byHandle.delete(handle)) book.live--;
    }),
    observing: false,
  };
  return book;
});

/**
 * Takes an observer in; `add` puts it where ranges find it.
 *
 * @throws {TypeError} If it is not one. @throws {RangeError} If its sampling is not in [0, 1].
 */
export function register(
  observer: Observer<unknown>,
  add: (registration: Registration) => void,
): ObserverHandle {
  check(observer);
  const { scopes, sampling = 1 } = observer;
  const registration: Registration = {
    handle: ++book.lastHandle,
    observer,
    scopes: scopes === undefined
      ? ALL_SCOPES
      : scopes.reduce((bits, scope) => bits | bitOf(scope), 0),
    sampling,
    needsInputs: observer.needsInputs ?? false,
    needsOutputs: observer.needsOutputs ?? false,
    needsIds: observer.needsIds ?? false,
    enabled: true,
    removed: false,
    open: 0,
    drained: undefined,
  };
  // First: a runtime that cannot bind without a callback throws here, and nothing is left.
  add(registration);
  book.byHandle.set(registration.handle, new WeakRef(registration));
  book.collected.register(registration, registration.handle);
  book.live++;
  return registration.handle;
}

/** The registration of a handle; an unknown one is reported. */
export function find(
  handle: ObserverHandle,
  verb: string,
  site: () => Site,
): Registration | undefined {
  const registration = book.byHandle.get(handle)?.deref();
  if (registration === undefined) {
    reportMisuse(
      "observer-unknown",
      undefined,
      `Cannot ${verb} observer ${handle}: there is none of this handle (any more). ` +
        `Use a handle that addGlobalObserver() or addThreadLocalObserver() returned, once`,
      site(),
    );
  }
  return registration;
}

/**
 * Calls an observer, which must not disturb the operator: what it throws is reported, what it binds
 * is undone.
 */
export function observe(
  registration: Registration,
  range: RecordFunction,
  phase: "start" | "end",
  context: unknown,
): unknown {
  const { observing } = book;
  const frame = currentFrame();
  book.observing = true;
  try {
    const { observer } = registration;
    const result = phase === "start" ? observer.start?.(range) : observer.end?.(range, context);
    // A rejection that nobody handles would end the process.
    if (result instanceof Promise) result.catch((error) => report(registration, phase, error));
    return result;
  } catch (error) {
    report(registration, phase, error);
    return undefined;
  } finally {
    book.observing = observing;
    if (currentFrame() !== frame) storage.enterWith(frame);
  }
}

function report({ handle }: Registration, phase: string, error: unknown): void {
  reportThrown(`The ${phase} of observer ${handle}`, error);
}

/** Reports what was thrown by `what`, which runs for observers alone. */
export function reportThrown(what: string, error: unknown): void {
  reportMisuse(
    "observer-threw",
    undefined,
    `${what} threw (${describe(error)}): the operator went on without it. Catch errors in there`,
    error instanceof Error ? error : undefined,
  );
}

function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "something that cannot be printed";
  }
}

function check(observer: Observer<unknown>): void {
  if (typeof observer !== "object" || observer === null) {
    throw new TypeError(
      `Cannot add an observer: expected an object such as { start, end }, got ${
        observer === null ? "null" : typeof observer
      }`,
    );
  }
  for (const name of ["start", "end"] as const) {
    const type = typeof observer[name];
    if (type !== "function" && type !== "undefined") {
      throw new TypeError(`Cannot add an observer: ${name} must be a function, got ${type}`);
    }
  }
  const { scopes, sampling = 1 } = observer;
  if (scopes !== undefined && !Array.isArray(scopes)) {
    throw new TypeError(`Cannot add an observer: scopes must be a list, got ${typeof scopes}`);
  }
  // Not "sampling < 0 || …": NaN is neither.
  if (typeof sampling !== "number" || !(sampling >= 0 && sampling <= 1)) {
    throw new RangeError(
      `Cannot add an observer: sampling is a probability from 0 to 1, got ${sampling}`,
    );
  }
}
