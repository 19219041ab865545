/**
 * A key was declared twice, and not both declarations said `shared: true`.
 *
 * @example
 * ```ts
 * import { DuplicateSlotError, ThreadLocal } from "@thread-local/core";
 * import { assertThrows } from "@std/assert";
 *
 * new ThreadLocal("errors.example", { initial: 0 });
 *
 * assertThrows(() => new ThreadLocal("errors.example", { initial: 0 }), DuplicateSlotError);
 * ```
 */
export class DuplicateSlotError extends Error {
  /** The name of the class. */
  override readonly name: string = "DuplicateSlotError";
  /** The key that both declarations gave. */
  readonly key: string;
  /** Where the key was declared first, as `file:line:column`. */
  readonly firstSite: string;
  /** Where it was declared again, as `file:line:column`. */
  readonly secondSite: string;

  /** Made by the `ThreadLocal` constructor. */
  constructor(key: string, firstSite: string, secondSite: string) {
    super(
      `Cannot declare "${key}" at ${secondSite}: it is declared at ${firstSite} already. ` +
        `Import that slot, or pass { shared: true } to both declarations`,
    );
    this.key = key;
    this.firstSite = firstSite;
    this.secondSite = secondSite;
  }
}
