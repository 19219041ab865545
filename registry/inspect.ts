type Inspect = (value: unknown, options: object) => string;

/** What is to be seen of an object: names, and what they stand for. */
export type Shown = Iterable<readonly [name: string, value: unknown]>;

/** Stands for a value that is bound, and not to be seen. */
export const REDACTED = "<redacted>";

/** Values are printed one level deep less than asked for, on one line each. */
function print(object: object, entries: Shown, show: (value: unknown) => string): string {
  const shown = Array.from(
    entries,
    ([name, value]) =>
      `${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${
        value === REDACTED ? REDACTED : show(value)
      }`,
  );
  const { name } = object.constructor;
  return shown.length === 0 ? `${name} {}` : `${name} { ${shown.join(", ")} }`;
}

/**
 * Gives the objects of a class a form for people in `Deno.inspect`, `console.log`, node's
 * `util.inspect`, strings and JSON. Whatever holds a frame needs one: else a logger would write the
 * frame, with the values of slots declared with `redact: true` and all instances of the thread.
 */
export function makeInspectable<T extends object>(prototype: T, shown: (of: T) => Shown): void {
  // A prototype has the accessors, and not the fields that they read.
  const entries = (of: T) => Object.hasOwn(of, "constructor") ? [] : shown(of);
  Object.defineProperties(prototype, {
    [Symbol.for("Deno.customInspect")]: {
      value(this: T, inspect: Inspect, options: object): string {
        return print(this, entries(this), (value) => inspect(value, options));
      },
    },
    [Symbol.for("nodejs.util.inspect.custom")]: {
      value(this: T, _depth: number, options: object, inspect: Inspect): string {
        return print(this, entries(this), (value) => inspect(value, options));
      },
    },
    toString: {
      value(this: T): string {
        return print(this, entries(this), String);
      },
    },
    toJSON: {
      value(this: T): Record<string, unknown> {
        return Object.fromEntries(
          Array.from(entries(this), ([name, value]) => [
            name,
            typeof value === "bigint" ? String(value) : value, // which JSON does not have
          ]),
        );
      },
    },
  });
}
