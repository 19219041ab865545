/** How a value crosses to another isolate or process: as a JSON value. */
export interface WireCodec<T> {
  /** Makes a JSON value of a slot's value. */
  encode(value: T): unknown;
  /** Makes a slot's value of a JSON value, which may come from anyone: throw if it is not right. */
  decode(wire: unknown): T;
}

/** What can be said of a slot beside its initial value. */
export interface SlotOptions<T = unknown> {
  /**
   * Two declarations of one key are one slot, if both say so. The first declaration's options hold.
   * Default: `false`, and a second declaration throws.
   */
  readonly shared?: boolean;
  /** The value is never printed: {@linkcode ThreadLocalState} shows `<redacted>`. Default: `false`. */
  readonly redact?: boolean;
  /** Whether a fork starts with the parent's binding, or unbound. Default: `true`. */
  readonly inherit?: boolean;
  /**
   * Copies the value for a forked thread, so that the two do not share what is mutable in it. Called
   * at each fork where the slot is bound, in the parent's state; not called with `inherit: false`.
   */
  readonly fork?: (value: T) => T;
  /**
   * Whether the value may leave the isolate (to a Web Worker, another process), and how: `true` for
   * JSON values, else a codec. Default: it stays here, so that a secret never leaves by accident.
   */
  readonly wire?: true | WireCodec<T>;
}

/** What a slot reads where it is unbound: a value, or a function that makes it. */
export type InitialValue<T> =
  | {
    /** The value itself. A function given here is the value, it is not called. */
    readonly initial: T;
    readonly init?: undefined;
  }
  | {
    /**
     * Makes the value on the first read, once per isolate, with no slot bound (its result is for
     * every flow). If it throws, that read throws, and the next one tries again.
     */
    readonly init: () => T;
    readonly initial?: undefined;
  };

const OPTIONS: ReadonlySet<string> = new Set([
  "initial",
  "init",
  "shared",
  "redact",
  "inherit",
  "fork",
  "wire",
]);

/** @throws {TypeError} Unless it is a non-empty string. */
export function checkKey(key: unknown): void {
  if (typeof key !== "string" || key === "") {
    throw new TypeError(
      `Cannot declare a slot: its key must be a non-empty string, got ${
        key === "" ? "an empty one" : typeof key
      }`,
    );
  }
}

/** @throws {TypeError} If an option is unknown, or not what it should be. */
export function checkOptions(key: string, options: object): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot declare "${key}": its options must be an object such as { initial: … }, got ${
        options === null ? "null" : typeof options
      }`,
    );
  }
  const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `Cannot declare "${key}": there is no option "${unknown}" (there are ${
        [...OPTIONS].join(", ")
      })`,
    );
  }
  const { initial, init } = options as Partial<InitialValue<unknown>>;
  // An init that is there and undefined was imported before its module was evaluated.
  const missing = init === undefined && Object.hasOwn(options, "init") &&
    !Object.hasOwn(options, "initial");
  if (missing || init !== undefined && typeof init !== "function") {
    throw new TypeError(
      `Cannot declare "${key}": init must be a function, got ${typeof init}. ` +
        `Use initial for a plain value`,
    );
  }
  for (const name of ["shared", "redact", "inherit"] as const) {
    checkType(key, options, name, "boolean");
  }
  checkType(key, options, "fork", "function");
  checkWire(key, (options as SlotOptions).wire);
  if (init !== undefined && initial !== undefined) {
    throw new TypeError(`Cannot declare "${key}": give either initial or init, not both`);
  }
}

function checkType(key: string, options: SlotOptions, name: keyof SlotOptions, type: string): void {
  const value = options[name];
  if (value !== undefined && typeof value !== type) {
    throw new TypeError(`Cannot declare "${key}": ${name} must be a ${type}, got ${typeof value}`);
  }
}

function checkWire(key: string, wire: SlotOptions["wire"]): void {
  if (wire === undefined || wire === true) return;
  if (typeof wire?.encode === "function" && typeof wire.decode === "function") return;
  throw new TypeError(`Cannot declare "${key}": wire must be true or { encode, decode }`);
}
