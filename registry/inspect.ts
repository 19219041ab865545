import type { ThreadLocalState } from "./state.ts";

type Inspect = (value: unknown, options: object) => string;

const REDACTED = "<redacted>";

/** Values are printed one level deep less than asked for, on one line each. */
function print(state: ThreadLocalState, show: (value: unknown) => string): string {
  const bindings = [...state].map(([slot, value]) =>
    `${JSON.stringify(slot.key)}: ${slot.redact ? REDACTED : show(value)}`
  );
  return bindings.length === 0
    ? "ThreadLocalState {}"
    : `ThreadLocalState { ${bindings.join(", ")} }`;
}

/**
 * Gives states a readable form in `Deno.inspect`, `console.log`, node's `util.inspect` and JSON:
 * keys and values, without those of slots declared with `redact: true`.
 */
export function makeInspectable(prototype: ThreadLocalState): void {
  Object.defineProperties(prototype, {
    [Symbol.for("Deno.customInspect")]: {
      value(this: ThreadLocalState, inspect: Inspect, options: object): string {
        return print(this, (value) => inspect(value, options));
      },
    },
    [Symbol.for("nodejs.util.inspect.custom")]: {
      value(this: ThreadLocalState, _depth: number, options: object, inspect: Inspect): string {
        return print(this, (value) => inspect(value, options));
      },
    },
    toString: {
      value(this: ThreadLocalState): string {
        return print(this, String);
      },
    },
    // Else a logger that writes JSON would write the frame, redacted values and all.
    toJSON: {
      value(this: ThreadLocalState): Record<string, unknown> {
        return Object.fromEntries(
          Array.from(this, ([slot, value]) => [slot.key, slot.redact ? REDACTED : value]),
        );
      },
    },
  });
}
