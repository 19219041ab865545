/** A value that JSON text can hold. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Why a value is not taken. Thrown within the wire form only: it records no stack. */
export class Refusal {
  constructor(readonly why: string) {}
}

/** How much a value may still hold: see `WireLimits.maxSize`. */
export interface SizeBudget {
  left: number;
}

/**
 * A deep copy of a JSON value, which no one else can change.
 *
 * Properties of value `undefined` and those named by symbols are left out, as JSON text does.
 *
 * @throws {Refusal} If it is not a JSON value, is nested deeper than `depth`, or exceeds the budget.
 */
export function copyJson(value: unknown, budget: SizeBudget, depth: number): JsonValue {
  switch (typeof value) {
    case "string":
      spend(budget, value.length);
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new Refusal(`${value} is not a JSON value`);
      spend(budget, 1);
      return value;
    case "boolean":
      spend(budget, 1);
      return value;
    case "object":
      spend(budget, 1);
      if (value === null) return null;
      if (depth <= 0) throw new Refusal(`its value is nested too deep, or in itself`);
      return Array.isArray(value)
        ? copyArray(value, budget, depth - 1)
        : copyObject(value as Record<string, unknown>, budget, depth - 1);
    default:
      throw new Refusal(`${value === undefined ? "" : "a "}${typeof value} is not a JSON value`);
  }
}

function copyArray(value: readonly unknown[], budget: SizeBudget, depth: number): JsonValue[] {
  const copied: JsonValue[] = [];
  for (let i = 0; i < value.length; i++) copied.push(copyJson(value[i], budget, depth));
  return copied;
}

function copyObject(
  value: Record<string, unknown>,
  budget: SizeBudget,
  depth: number,
): JsonValue {
  const prototype = Object.getPrototypeOf(value);
  // Object.prototype of another realm is a plain object's prototype too.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new Refusal(`an instance of a class is not a JSON value`);
  }
  const copied: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    // An assignment would set the copy's prototype, and so would it in the reader's hands.
    if (name === "__proto__") throw new Refusal(`a property "__proto__" is not allowed`);
    const item = value[name];
    if (item === undefined) continue;
    spend(budget, name.length);
    copied[name] = copyJson(item, budget, depth);
  }
  return copied;
}

function spend(budget: SizeBudget, size: number): void {
  budget.left -= size;
  if (budget.left < 0) throw new Refusal(`the wire is larger than maxSize allows`);
}
