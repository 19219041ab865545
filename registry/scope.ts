import { currentFrame, type Frame, GUARD, storage } from "./frame.ts";
import { Guard, guards } from "./guard.ts";

/** The module's own constants: V8 loads and checks imported ones at each use. */
const ownStorage = storage;
const ownGuards = guards;

/**
 * Calls `fn` in `frame`. Nothing that `fn` enters outlives the call, and a guard that it leaves
 * open is reported.
 */
export function runIn<A extends unknown[], R>(
  frame: Frame,
  fn: (...args: A) => R,
  args: A,
): R {
  return ownStorage.run(frame, callChecked<A, R>, frame, fn, args);
}

function callChecked<A extends unknown[], R>(frame: Frame, fn: (...args: A) => R, args: A): R {
  const { events } = ownGuards;
  try {
    // Spreading nothing costs 10 ns, a twenty-fifth of the platform's run.
    return args.length === 0 ? (fn as unknown as () => R)() : fn(...args);
  } finally {
    if (ownGuards.events !== events) Guard["checkScope"](events, frame, currentFrame());
  }
}

/** What runs in steps, such as the body of a generator: the frame that its next step runs in. */
export interface Steps {
  frame: Frame;
}

/**
 * Calls `fn` as the next step of `steps`. What it enters is there at the step after and nowhere
 * else, and a guard that it leaves open at a `yield` is reported.
 */
export function stepIn<A extends unknown[], R>(
  steps: Steps,
  fn: (...args: A) => R,
  args: A,
): R {
  return ownStorage.run(steps.frame, callStep<A, R>, steps, fn, args);
}

function callStep<A extends unknown[], R>(steps: Steps, fn: (...args: A) => R, args: A): R {
  const { events } = ownGuards;
  const entered = steps.frame;
  let result: { readonly done?: boolean; readonly then?: unknown } | undefined | null;
  try {
    return (result = fn(...args) as typeof result) as R;
  } finally {
    const left = currentFrame();
    const suspended = typeof result?.then === "function";
    if (ownGuards.events !== events) {
      const yielded = !suspended && typeof result === "object" && result?.done !== true;
      Guard["checkScope"](events, entered, left, yielded);
    }
    // An async step that is suspended goes on where this cannot see it close its guards.
    if (!suspended || left[GUARD] === entered[GUARD]) steps.frame = left;
  }
}
