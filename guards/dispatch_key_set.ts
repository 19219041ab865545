import { book, type DispatchKey, dispatchKeys } from "./dispatch_key.ts";

const WORD = 32;

/**
 * An immutable set of dispatch keys: one bit for each key of the list, in words of 32.
 *
 * @example
 * ```ts
 * import { DispatchKeySet, dispatchKeys } from "@thread-local/core/guards";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const { CPU, CUDA, AutogradCPU } = dispatchKeys;
 * const keys = DispatchKeySet.of(AutogradCPU, CPU);
 *
 * assert(keys.has(CPU));
 * assertEquals([...keys.difference(DispatchKeySet.of(AutogradCPU, CUDA))], [CPU]);
 * assertEquals(keys.union(DispatchKeySet.of(CUDA)).size, 3);
 * ```
 */
export class DispatchKeySet implements Iterable<DispatchKey> {
  // Without zero words at the end: equal sets have equal words.
  private readonly words: readonly number[];

  private constructor(words: number[]) {
    while (words.length > 0 && words[words.length - 1] === 0) words.pop();
    this.words = words;
  }

  /**
   * The set of these keys.
   *
   * @throws {TypeError} If one is not a registered key.
   */
  static of(...keys: DispatchKey[]): DispatchKeySet {
    const words: number[] = [];
    for (const key of keys) {
      checkKey(key);
      const at = Math.floor(key.bit / WORD);
      while (words.length <= at) words.push(0);
      words[at] |= 1 << key.bit % WORD;
    }
    return new DispatchKeySet(words);
  }

  /** How many keys are in it. O(words). */
  get size(): number {
    return [...this].length;
  }

  /** Whether the key is in it. O(1), allocates nothing. */
  has(key: DispatchKey): boolean {
    return ((this.words[Math.floor(key.bit / WORD)] ?? 0) & (1 << key.bit % WORD)) !== 0;
  }

  /** The keys that are in this one, in the other or in both. */
  union(other: DispatchKeySet): DispatchKeySet {
    return this.combine(other, (own, others) => own | others);
  }

  /** The keys that are in this one and not in the other. */
  difference(other: DispatchKeySet): DispatchKeySet {
    return this.combine(other, (own, others) => own & ~others);
  }

  /** The keys that are in both. */
  intersection(other: DispatchKeySet): DispatchKeySet {
    return this.combine(other, (own, others) => own & others);
  }

  /** Whether both have the same keys. */
  equals(other: DispatchKeySet): boolean {
    return this.words.length === other.words.length &&
      this.words.every((word, at) => word === other.words[at]);
  }

  /** The keys, in the order of the list. */
  *[Symbol.iterator](): IterableIterator<DispatchKey> {
    for (const key of book.byBit) {
      if (this.has(key)) yield key;
    }
  }

  /** The names of the keys, for messages. */
  toString(): string {
    return `DispatchKeySet(${[...this].join(", ")})`;
  }

  /** The set that has what `of` makes of each word of the two. */
  private combine(
    other: DispatchKeySet,
    of: (own: number, others: number) => number,
  ): DispatchKeySet {
    const words: number[] = [];
    for (let at = 0; at < Math.max(this.words.length, other.words.length); at++) {
      words.push(of(this.words[at] ?? 0, other.words[at] ?? 0));
    }
    return new DispatchKeySet(words);
  }
}

function checkKey(key: DispatchKey): void {
  if (key !== undefined && book.byName.get(key?.name) === key) return;
  throw new TypeError(
    `Cannot make a set of dispatch keys: expected keys such as dispatchKeys.CPU, got ${
      key === null ? "null" : typeof key
    }`,
  );
}

/**
 * The well-known keys whose names begin with `Autograd`: what inference mode excludes.
 *
 * @example
 * ```ts
 * import { autogradDispatchKeys, dispatchKeys } from "@thread-local/core/guards";
 * import { assert, assertFalse } from "@std/assert";
 *
 * assert(autogradDispatchKeys.has(dispatchKeys.AutogradCPU));
 * assertFalse(autogradDispatchKeys.has(dispatchKeys.CPU));
 * ```
 */
export const autogradDispatchKeys: DispatchKeySet = named("Autograd");

/** The well-known keys of autocast: excluded until a program asks for them. */
export const autocastDispatchKeys: DispatchKeySet = named("Autocast");

function named(prefix: string): DispatchKeySet {
  return DispatchKeySet.of(
    ...Object.values(dispatchKeys).filter(({ name }) => name.startsWith(prefix)),
  );
}
