import { shared } from "../registry/shared.ts";

/**
 * The names of the dispatch keys that are there from the start: PyTorch's.
 *
 * @example
 * ```ts
 * import { dispatchKeyNames } from "@thread-local/core/guards";
 * import { assert } from "@std/assert";
 *
 * assert(dispatchKeyNames.includes("AutogradCPU"));
 * ```
 */
export const dispatchKeyNames = [
  "CPU",
  "CUDA",
  "HIP",
  "XLA",
  "MPS",
  "XPU",
  "HPU",
  "Lazy",
  "MTIA",
  "PrivateUse1",
  "PrivateUse2",
  "PrivateUse3",
  "Meta",
  "Vulkan",
  "Metal",
  "QuantizedCPU",
  "QuantizedCUDA",
  "SparseCPU",
  "SparseCUDA",
  "SparseCsrCPU",
  "SparseCsrCUDA",
  "NestedTensorCPU",
  "NestedTensorCUDA",
  "BackendSelect",
  "Python",
  "Fake",
  "Functionalize",
  "Named",
  "Conjugate",
  "Negative",
  "ZeroTensor",
  "ADInplaceOrView",
  "AutogradOther",
  "AutogradCPU",
  "AutogradCUDA",
  "AutogradHIP",
  "AutogradXLA",
  "AutogradMPS",
  "AutogradXPU",
  "AutogradHPU",
  "AutogradLazy",
  "AutogradMTIA",
  "AutogradPrivateUse1",
  "AutogradPrivateUse2",
  "AutogradPrivateUse3",
  "AutogradMeta",
  "AutogradNestedTensor",
  "Tracer",
  "AutocastCPU",
  "AutocastCUDA",
  "AutocastXPU",
  "AutocastXLA",
  "AutocastMPS",
  "AutocastHPU",
  "AutocastMTIA",
  "AutocastPrivateUse1",
  "FuncTorchBatched",
  "Batched",
  "FuncTorchGradWrapper",
  "DeferredInit",
  "PythonTLSSnapshot",
  "PreDispatch",
  "PythonDispatcher",
] as const;

/** The name of a dispatch key that is there from the start. */
export type WellKnownDispatchKey = typeof dispatchKeyNames[number];

interface Book {
  readonly byName: Map<string, DispatchKey>;
  /** By the number of their bit. */
  readonly byBit: DispatchKey[];
}

/** Every dispatch key of this isolate. */
export const book = shared<Book>("dispatch keys", () => ({ byName: new Map(), byBit: [] }));

/**
 * What an operator can be dispatched on: a backend, or something that wraps every backend, such as
 * autograd. The list is open: a program registers its own.
 *
 * @typeParam Name The type of its name.
 *
 * @example
 * ```ts
 * import { DispatchKey, DispatchKeySet, dispatchKeys } from "@thread-local/core/guards";
 * import { assert, assertStrictEquals, assertThrows } from "@std/assert";
 *
 * const wasm = DispatchKey.register("DispatchKey.Wasm");
 *
 * assert(DispatchKeySet.of(dispatchKeys.CPU, wasm).has(wasm));
 * assertStrictEquals(DispatchKey.find("DispatchKey.Wasm"), wasm);
 * assertThrows(() => DispatchKey.register("CPU"), TypeError, "registered already");
 * ```
 */
export class DispatchKey<Name extends string = string> {
  /** Unique in the isolate. */
  readonly name: Name;
  /** @internal The number of its bit in a set. */
  readonly bit: number;

  private constructor(name: Name, bit: number) {
    this.name = name;
    this.bit = bit;
  }

  /**
   * Adds a key to the list. Keys are never taken out.
   *
   * @throws {TypeError} If the name is not a non-empty string, or is registered already.
   */
  static register<Name extends string>(name: Name): DispatchKey<Name> {
    if (typeof name !== "string" || name === "") {
      throw new TypeError(
        `Cannot register a dispatch key: its name must be a non-empty string, got ${
          name === "" ? "an empty one" : typeof name
        }`,
      );
    }
    if (book.byName.has(name)) {
      throw new TypeError(
        `Cannot register the dispatch key "${name}": it is registered already. ` +
          `Import that key, or look it up with DispatchKey.find("${name}")`,
      );
    }
    const key = new DispatchKey(name, book.byBit.length);
    book.byName.set(name, key);
    book.byBit.push(key);
    return key;
  }

  /** The key of this name, or `undefined`. O(1). */
  static find<Name extends string>(name: Name): DispatchKey<Name> | undefined {
    return book.byName.get(name) as DispatchKey<Name> | undefined;
  }

  /** The name, for messages. */
  toString(): string {
    return this.name;
  }
}

/**
 * The dispatch keys that are there from the start, by name.
 *
 * @example
 * ```ts
 * import { dispatchKeys } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(dispatchKeys.AutogradCPU.name, "AutogradCPU");
 * ```
 */
export const dispatchKeys: {
  readonly [Name in WellKnownDispatchKey]: DispatchKey<Name>;
} = Object.freeze(Object.fromEntries(
  // Another copy of the package may have registered them.
  dispatchKeyNames.map((name) => [name, DispatchKey.find(name) ?? DispatchKey.register(name)]),
)) as { readonly [Name in WellKnownDispatchKey]: DispatchKey<Name> };
