import { type DebugInfoKind, findKind } from "./debug_info_kind.ts";
import { type Edit, EditGuard, type EditGuardForms, formsOf, runEdited } from "./edit_guard.ts";
import { declareLate } from "./late_slot.ts";
import type { GuardOptions } from "../registry/guard.ts";
import type { WireCodec } from "../registry/slot_options.ts";
import { guardForAsync, type ThreadLocal } from "../registry/thread_local.ts";

/** One info, and those outside it. Never written. */
interface DebugInfoLink {
  readonly kind: string;
  readonly info: unknown;
  /** The info is still as it came over the wire: there was no such kind here to decode it. */
  readonly encoded: boolean;
  readonly outer: DebugInfoLink | undefined;
}

/**
 * What the current flow is doing, for those who watch it: an immutable chain of infos, each of a
 * {@linkcode DebugInfoKind}, in one slot. Infos are shared, never copied.
 *
 * @example A user id that was set at the top is found by an observer deep below
 * ```ts
 * import { DebugInfoGuard, DebugInfoKind, ThreadLocalDebugInfo } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * const USER = new DebugInfoKind<string>("ThreadLocalDebugInfo.user");
 *
 * async function operator() {
 *   await Promise.resolve();
 *   return ThreadLocalDebugInfo.get(USER);
 * }
 *
 * assertEquals(
 *   await Promise.all([
 *     DebugInfoGuard.run(USER, "ann", operator),
 *     DebugInfoGuard.run(USER, "bob", operator),
 *     operator(),
 *   ]),
 *   ["ann", "bob", null],
 * );
 * ```
 */
export class ThreadLocalDebugInfo {
  private constructor() {}

  /**
   * The slot that holds the chain, for `state.with`, `pick` and `omit`. Its values are opaque. Infos
   * whose kind has a wire form go with a state to another isolate or process.
   */
  static get slot(): ThreadLocal<unknown> {
    return slot() as ThreadLocal<unknown>;
  }

  /**
   * The nearest info of this kind, or `null`. O(infos on the chain), allocates nothing. An info that
   * came over the wire before its kind was made is decoded at each call.
   */
  static get<T>(kind: DebugInfoKind<T>): T | null {
    for (let link = slot().get(); link !== undefined; link = link.outer) {
      if (link.kind !== kind.name) continue;
      if (!link.encoded) return link.info as T;
      try {
        return decode(link.info, kind) as T;
      } catch {
        // What came over the wire may be anyone's: an info that is not right is none.
      }
    }
    return null;
  }

  /**
   * Puts an info on top, from here on in this flow. Prefer a {@linkcode DebugInfoGuard}, which also
   * takes it off.
   *
   * @throws {TypeError} If the info is `null` or `undefined`.
   */
  static push<T>(kind: DebugInfoKind<T>, info: NonNullable<T>): void {
    checkInfo(kind, info);
    slot().set(push(slot().get(), kind, info));
  }

  /**
   * Takes the info off that is on top, from here on in this flow.
   *
   * @returns That info.
   * @throws {TypeError} If what is on top is not of this kind, or came over the wire and the kind has
   * none; what the kind's `decode` throws. Nothing is changed then.
   */
  static pop<T>(kind: DebugInfoKind<T>): T {
    const top = topOf(kind, "pop");
    const info = infoOf(top, kind);
    if (top.outer === undefined) slot().clear();
    else slot().set(top.outer);
    return info;
  }

  /**
   * The info that is on top.
   *
   * @throws {TypeError} If what is on top is not of this kind, or came over the wire and the kind has
   * none; what the kind's `decode` throws.
   */
  static peek<T>(kind: DebugInfoKind<T>): T {
    return infoOf(topOf(kind, "peek at"), kind);
  }
}

function push<T>(
  outer: DebugInfoLink | undefined,
  { name }: DebugInfoKind<T>,
  info: T,
): DebugInfoLink {
  return { kind: name, info, encoded: false, outer };
}

function topOf<T>(kind: DebugInfoKind<T>, verb: string): DebugInfoLink {
  const top = slot().get();
  if (top?.kind === kind.name) return top;
  throw new TypeError(
    `Cannot ${verb} debug info of kind "${kind.name}": ${
      top === undefined ? "there is none" : `on top is one of kind "${top.kind}"`
    }. Pop in the reverse order of push, or use DebugInfoGuard`,
  );
}

function infoOf<T>(link: DebugInfoLink, kind: DebugInfoKind<T>): T {
  return (link.encoded ? decode(link.info, kind) : link.info) as T;
}

function decode(info: unknown, { name, wire }: DebugInfoKind<unknown>): unknown {
  if (wire === undefined) {
    throw new TypeError(
      `Cannot read debug info of kind "${name}": it came over the wire, and the kind is made ` +
        `without wire here`,
    );
  }
  return wire === true ? info : wire.decode(info);
}

function checkInfo(kind: DebugInfoKind<unknown>, info: unknown): void {
  if (info !== null && info !== undefined) return;
  throw new TypeError(`Cannot push debug info of kind "${kind.name}": there is none, got ${info}`);
}

/** From the outermost to the innermost: [kind, info] pairs. */
type Wire = [kind: string, info: unknown][];

const wire: WireCodec<DebugInfoLink | undefined> = {
  encode(top) {
    const pairs: Wire = [];
    for (let link = top; link !== undefined; link = link.outer) {
      if (link.encoded) {
        pairs.push([link.kind, link.info]);
        continue;
      }
      const form = findKind(link.kind)?.wire;
      if (form === undefined) continue;
      pairs.push([link.kind, form === true ? link.info : form.encode(link.info)]);
    }
    return pairs.reverse();
  },
  decode(pairs) {
    let top: DebugInfoLink | undefined;
    for (const [name, info] of pairs as Wire) {
      if (typeof name !== "string" || info === null || info === undefined) {
        throw new TypeError("Cannot read debug info: expected pairs of a kind's name and its info");
      }
      const kind = findKind(name);
      // What does not leave the isolate does not come in either: anyone may have sent it.
      if (kind !== undefined && kind.wire === undefined) continue;
      top = {
        kind: name,
        info: kind === undefined ? info : decode(info, kind),
        encoded: kind === undefined,
        outer: top,
      };
    }
    return top;
  },
};

const slot = declareLate<DebugInfoLink | undefined>("debugInfo", { initial: undefined, wire });

function pushing<T>(kind: DebugInfoKind<T>, info: T | null): readonly Edit<unknown>[] {
  if (info === null) return [];
  checkInfo(kind, info);
  const edit: Edit<DebugInfoLink | undefined> = {
    get slot(): ThreadLocal<DebugInfoLink | undefined> {
      return slot();
    },
    apply: (outer) => push(outer, kind, info),
    // The chain as it was outside, whatever was pushed or popped without a guard.
    undo: (before) => before,
  };
  return [edit];
}

const NOTHING = (): void => {};

/**
 * Puts a debug info on top for a scope; at its end the chain is what it was before. With `null` it
 * does nothing.
 *
 * @example
 * ```ts
 * import { DebugInfoGuard, DebugInfoKind, ThreadLocalDebugInfo } from "@thread-local/core/guards";
 * import { assertEquals } from "@std/assert";
 *
 * const { PRODUCER_INFO, TEST_INFO } = DebugInfoKind;
 * {
 *   using _model = new DebugInfoGuard(PRODUCER_INFO, { model: "resnet" });
 *   using _test = new DebugInfoGuard(TEST_INFO, { case: 1 });
 *   assertEquals(ThreadLocalDebugInfo.get(PRODUCER_INFO), { model: "resnet" });
 *   assertEquals(ThreadLocalDebugInfo.peek(TEST_INFO), { case: 1 });
 * }
 * assertEquals(ThreadLocalDebugInfo.get(PRODUCER_INFO), null);
 * ```
 */
export class DebugInfoGuard<T> extends EditGuard {
  private readonly empty: boolean;

  /**
   * A guard for a synchronous block.
   *
   * @throws {TypeError} If `info` is `undefined`.
   */
  constructor(kind: DebugInfoKind<T>, info: T | null);
  /** @internal */
  constructor(kind: DebugInfoKind<T>, info: T | null, form: GuardOptions);
  constructor(kind: DebugInfoKind<T>, info: T | null, form: GuardOptions = debugInfoGuards.sync) {
    super(pushing(kind, info), form);
    this.empty = info === null;
  }

  /**
   * A guard for the rest of an async function.
   *
   * @throws {TypeError} (rejects) If `info` is `undefined`, or this runtime has no asynchronous
   * context.
   */
  // deno-lint-ignore require-await -- a bad argument must reject, not throw.
  static async enter<T>(kind: DebugInfoKind<T>, info: T | null): Promise<DebugInfoGuard<T>> {
    return guardForAsync(new DebugInfoGuard(kind, info, debugInfoGuards.async));
  }

  /**
   * Calls `fn` with the info on top, for it and everything asynchronous that it starts.
   *
   * @returns What `fn` returns.
   * @throws What `fn` throws; a `TypeError` if an argument is of the wrong type.
   */
  static run<T, A extends unknown[], R>(
    kind: DebugInfoKind<T>,
    info: T | null,
    fn: (...args: A) => R,
    ...args: A
  ): R {
    return runEdited(pushing(kind, info), fn, args);
  }

  /** The function that closes the guard, as in every {@linkcode Guard}. */
  override get [Symbol.dispose](): () => void {
    return this.empty ? NOTHING : super[Symbol.dispose];
  }
}

const debugInfoGuards: EditGuardForms = formsOf(DebugInfoGuard);
