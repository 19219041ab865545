import { type MisuseReport, onMisuse, saveThreadLocalState, ThreadLocal } from "@thread-local/core";

export const user = new ThreadLocal("wire_test.user", { initial: "nobody", wire: true });
export const any = new ThreadLocal<unknown>("wire_test.any", { wire: true });
export const secret = new ThreadLocal("wire_test.secret", { initial: "none" });
export const when = new ThreadLocal("wire_test.when", {
  initial: new Date(0),
  wire: {
    encode: (value) => value.getTime(),
    decode(wire) {
      const date = new Date(typeof wire === "number" ? wire : NaN);
      if (Number.isNaN(date.getTime())) throw new RangeError("not a time");
      return date;
    },
  },
});

export const empty = saveThreadLocalState().pick();

/** A wire with these bindings, however wrong. */
export function wireOf(...bindings: unknown[]): unknown {
  return { version: 1, bindings };
}

/** What `fn` returns, and what was reported while it ran. */
export function reporting<R>(fn: () => R): { result: R; reports: MisuseReport[] } {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));
  return { result: fn(), reports };
}

let declared = 0;

/** A key that no slot has. */
export function freshKey(): string {
  return `wire_test.late${declared++}`;
}
