import { shared } from "../registry/shared.ts";
import type { WireCodec } from "../registry/slot_options.ts";

/** What can be said of a kind of debug info. */
export interface DebugInfoKindOptions<T> {
  /**
   * Whether infos of this kind may leave and enter the isolate, and how: `true` for JSON values, else
   * a codec. Default: they stay here, and none is taken from a wire.
   */
  readonly wire?: true | WireCodec<T>;
}

/** Every kind of this isolate, by name. */
const kinds = shared("debug info kinds", () => new Map<string, DebugInfoKind<unknown>>());

/**
 * A kind of debug info: it fixes the type of the infos that are pushed and found under it.
 *
 * The kinds that PyTorch has are static members; a program makes its own, once, at the top of a
 * module.
 *
 * @typeParam T The type of the infos, without `null` and `undefined`.
 *
 * @example
 * ```ts
 * import { DebugInfoGuard, DebugInfoKind, ThreadLocalDebugInfo } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * const REQUEST = new DebugInfoKind<{ user: string }>("DebugInfoKind.request", { wire: true });
 *
 * using _ = new DebugInfoGuard(REQUEST, { user: "ann" });
 * assertEquals(ThreadLocalDebugInfo.get(REQUEST)?.user, "ann");
 * ```
 */
export class DebugInfoKind<T> {
  /** Who made what is running: a model, a version. */
  static readonly PRODUCER_INFO: DebugInfoKind<object> = DebugInfoKind.wellKnown("PRODUCER_INFO");
  /** The runtime on a mobile device. */
  static readonly MOBILE_RUNTIME_INFO: DebugInfoKind<object> = DebugInfoKind.wellKnown(
    "MOBILE_RUNTIME_INFO",
  );
  /** The profiler of this flow. */
  static readonly PROFILER_STATE: DebugInfoKind<object> = DebugInfoKind.wellKnown("PROFILER_STATE");
  /** The request for which inference runs. */
  static readonly INFERENCE_CONTEXT: DebugInfoKind<object> = DebugInfoKind.wellKnown(
    "INFERENCE_CONTEXT",
  );
  /** The collective that is being called. */
  static readonly PARAM_COMMS_INFO: DebugInfoKind<object> = DebugInfoKind.wellKnown(
    "PARAM_COMMS_INFO",
  );
  /** For tests. */
  static readonly TEST_INFO: DebugInfoKind<object> = DebugInfoKind.wellKnown("TEST_INFO");
  /** For tests that need two. */
  static readonly TEST_INFO_2: DebugInfoKind<object> = DebugInfoKind.wellKnown("TEST_INFO_2");

  /** Unique in the isolate. */
  readonly name: string;
  /** @internal */
  readonly wire: true | WireCodec<T> | undefined;

  /**
   * Makes a kind.
   *
   * @param name Not empty, unique in the isolate. Dotted names (`"app.request"`) keep packages apart.
   * @param options What else holds.
   * @throws {TypeError} If there is a kind of this name already, or an argument is not one.
   */
  constructor(name: string, options: DebugInfoKindOptions<T> = {}) {
    if (typeof name !== "string" || name === "") {
      throw new TypeError(
        `Cannot make a kind of debug info: its name must be a non-empty string, got ${
          name === "" ? "an empty one" : typeof name
        }`,
      );
    }
    const { wire } = options;
    if (
      wire !== undefined && wire !== true &&
      (typeof wire?.encode !== "function" || typeof wire.decode !== "function")
    ) {
      throw new TypeError(
        `Cannot make the kind "${name}" of debug info: wire must be true or { encode, decode }`,
      );
    }
    if (kinds.has(name)) {
      throw new TypeError(
        `Cannot make the kind "${name}" of debug info: there is one already. Import that kind`,
      );
    }
    this.name = name;
    this.wire = wire;
    kinds.set(name, this as DebugInfoKind<unknown>);
  }

  /** Another copy of the package may have made it. */
  private static wellKnown(name: string): DebugInfoKind<object> {
    return (kinds.get(name) ?? new DebugInfoKind<object>(name)) as DebugInfoKind<object>;
  }
}

/** The kind of this name, or `undefined`. */
export function findKind(name: string): DebugInfoKind<unknown> | undefined {
  return kinds.get(name);
}
