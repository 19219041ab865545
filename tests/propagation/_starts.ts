import { saveThreadLocalState, ThreadLocal } from "@thread-local/core";

const outer = new ThreadLocal("propagation starts.outer", { initial: "initial" });
const inner = new ThreadLocal("propagation starts.inner", { initial: "initial" });

/** Where a flow can stand when it comes to what is tested. */
export const starts: Record<string, <R>(fn: () => R) => R> = {
  "no frame": (fn) => fn(),
  "a nested frame": (fn) => outer.run("outer", () => inner.run("inner", fn)),
  "a restored frame": (fn) => outer.run("saved", saveThreadLocalState).run(fn),
};

/** How a flow can come to a function: in its own turn, in a later one, beside a sibling. */
export const flows: Record<string, <R>(fn: () => R, sibling: () => void) => R | Promise<R>> = {
  "sync": (fn) => fn(),
  "across an await": async (fn) => {
    await Promise.resolve();
    return fn();
  },
  "in a Promise.all sibling": async (fn, sibling) => {
    const [result] = await Promise.all([
      Promise.resolve().then(fn),
      Promise.resolve().then(sibling),
    ]);
    return result;
  },
};
