/**
 * What kind of work a range is, for observers that ask for some kinds only (PyTorch's
 * `RecordScope`):
 *
 * - `"function"`: an operator, called forward; the default.
 * - `"backward-function"`: a node of autograd.
 * - `"torchscript-function"`: a function of a compiled script.
 * - `"kernel-function"`: a kernel that an operator was dispatched to.
 * - `"custom-class"`: a method of a class that is bound to scripts.
 * - `"build-feature"`: a feature of the build, seen once.
 * - `"lite-interpreter"`: a model in an interpreter on a mobile device.
 * - `"user-scope"`: a part of the user's own program.
 * - `"static-runtime-op"`, `"static-runtime-model"`: an operator, a model of a static runtime.
 */
export type RecordScope =
  | "function"
  | "backward-function"
  | "torchscript-function"
  | "kernel-function"
  | "custom-class"
  | "build-feature"
  | "lite-interpreter"
  | "user-scope"
  | "static-runtime-op"
  | "static-runtime-model";

/** One bit a scope: an observer asks for a set of them. */
const BITS: ReadonlyMap<RecordScope, number> = new Map([
  ["function", 1],
  ["backward-function", 2],
  ["torchscript-function", 4],
  ["kernel-function", 8],
  ["custom-class", 16],
  ["build-feature", 32],
  ["lite-interpreter", 64],
  ["user-scope", 128],
  ["static-runtime-op", 256],
  ["static-runtime-model", 512],
]);

/** Every scope. */
export const ALL_SCOPES = 1023;

/**
 * The bit of a scope.
 *
 * @throws {TypeError} If it is not one.
 */
export function bitOf(scope: RecordScope): number {
  const bit = BITS.get(scope);
  if (bit !== undefined) return bit;
  throw new TypeError(
    `Cannot record or observe the scope ${JSON.stringify(String(scope))}: there is none of this ` +
      `name (there are ${[...BITS.keys()].join(", ")})`,
  );
}
