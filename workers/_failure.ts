import { MARK } from "./_envelope.ts";

/** An error as it crosses: plain data, because a clone keeps neither class nor properties. */
interface Failure {
  readonly [MARK]: "error";
  /** The nearest class that both sides have. */
  readonly class: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: unknown;
  /** Those of an `AggregateError`. */
  readonly errors: readonly unknown[] | undefined;
  /** Own properties with plain values, such as `code`. */
  readonly properties: readonly (readonly [string, unknown])[];
}

/** What was thrown, if not an error. */
interface Thrown {
  readonly [MARK]: "thrown";
  readonly value: unknown;
}

type ErrorClass = new (message: string, options?: ErrorOptions) => Error;

/** Only these are made of what comes from the other side. */
const CLASSES: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
].map((errorClass) => [errorClass.name, errorClass]));

/** Causes may have causes, and be their own. */
const DEPTH = 8;

/** Makes plain data, which can always be cloned, of what a task threw. Never throws. */
export function packError(error: unknown, depth: number = DEPTH): Failure | Thrown {
  try {
    if (!(error instanceof Error)) return { [MARK]: "thrown", value: structuredClone(error) };
    const inner = (value: unknown): unknown =>
      value === undefined || depth === 0 ? undefined : packError(value, depth - 1);
    return {
      [MARK]: "error",
      class: classOf(error),
      name: String(error.name),
      message: String(error.message),
      stack: error.stack === undefined ? undefined : String(error.stack),
      cause: inner(error.cause),
      errors: error instanceof AggregateError ? error.errors.map(inner) : undefined,
      properties: Object.entries(error).filter(([name, value]) =>
        !STANDARD.has(name) && (value === null || PLAIN.has(typeof value))
      ),
    };
  } catch {
    return { [MARK]: "thrown", value: "a value that cannot be cloned was thrown" };
  }
}

const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean"]);
const STANDARD: ReadonlySet<string> = new Set([
  "__proto__",
  "name",
  "message",
  "stack",
  "cause",
  "errors",
]);

function classOf(error: Error): string {
  if (error instanceof AggregateError) return "AggregateError";
  if (error instanceof DOMException) return "DOMException";
  for (const [name, errorClass] of CLASSES) {
    if (errorClass !== Error && error instanceof errorClass) return name;
  }
  return "Error";
}

/** What a task threw in the worker, of what {@linkcode packError} made; anything else as it is. */
export function unpackError(packed: unknown): unknown {
  if (typeof packed !== "object" || packed === null || !Object.hasOwn(packed, MARK)) return packed;
  if ((packed as Failure | Thrown)[MARK] === "thrown") return (packed as Thrown).value;
  const failure = packed as Failure;
  const error = makeError(failure);
  const { name, stack, properties } = failure;
  for (const [property, value] of properties) define(error, property, value, true);
  if (error.name !== name) define(error, "name", name, false);
  if (stack !== undefined) define(error, "stack", stack, false);
  return error;
}

function makeError({ class: className, name, message, cause, errors }: Failure): Error {
  const options = cause === undefined ? undefined : { cause: unpackError(cause) };
  if (className === "AggregateError") {
    return new AggregateError((errors ?? []).map(unpackError), message, options);
  }
  if (className === "DOMException") return new DOMException(message, name);
  return new (CLASSES.get(className) ?? Error)(message, options);
}

function define(error: Error, name: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, name, { value, enumerable, writable: true, configurable: true });
}
