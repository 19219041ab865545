import {
  copy,
  currentFrame,
  type Frame,
  type FrameDraft,
  GUARD,
  lookUp,
  type Place,
  put,
  storage,
} from "./frame.ts";
import { makeInspectable } from "./inspect.ts";
import { type MisuseKind, reportMisuse } from "./misuse.ts";
import { shared } from "./shared.ts";
import { captureSite, type Site } from "./site.ts";

/** What a guard knows of a slot. */
export interface GuardedSlot extends Place {
  readonly key: string;
  /** What stands for it in a frame; {@linkcode lookUp} alone does not see what a wire carried. */
  lookUpIn(frame: Frame): unknown;
}

/** How many more guards of one kind record the site of their creation. */
export interface SiteBudget {
  left: number;
}

/** See {@linkcode MisuseReport.stack}. */
const SITES = 64;

/** A full budget. */
export function siteBudget(): SiteBudget {
  return { left: SITES };
}

interface Guards {
  /** Grows by one whenever a guard opens or closes: an unchanged count is a balanced scope. */
  events: number;
  /** The synchronous guards that were opened in this turn and may be open still. */
  readonly turn: Guard[];
  checksTurn: boolean;
}

/** What all guards of the isolate share. */
export const guards: Guards = shared(
  "guards",
  () => ({ events: 0, turn: [], checksTurn: false }),
);

type Phase = "new" | "open" | "closed";

/** How a guard is made: whether it stays within one turn, and where its creator stands. */
export interface GuardOptions {
  readonly sync: boolean;
  readonly sites: SiteBudget;
  readonly above: unknown;
}

/**
 * Binds for a lexical scope and unbinds at its end.
 *
 * A guard binds when `using` (or `DisposableStack.use`) takes it, not when it is created: without
 * them it does nothing at all. It is for one scope; a closed guard cannot be used again. Closing
 * is idempotent and never throws. Guards are made by {@linkcode ThreadLocal.with},
 * {@linkcode ThreadLocal.enter} and the guard classes.
 *
 * An `AsyncDisposableStack` awaits between its resources in a flow of its own: it closes only the
 * one that it took last where the guards were opened, and the others' bindings stay for the rest of
 * the function. Put guards in a `DisposableStack`, and let it take that last.
 *
 * @example
 * ```ts
 * import { ThreadLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const depth = new ThreadLocal("Guard.depth", { initial: 0 });
 * {
 *   using _ = depth.with(1);
 *   assertEquals(depth.get(), 1);
 * }
 * assertEquals(depth.get(), 0);
 * ```
 */
export abstract class Guard implements Disposable {
  private phase: Phase = "new";
  private readonly sync: boolean;
  private readonly sites: SiteBudget;
  private readonly site: Site | undefined;
  // While it is open: the frame that it entered, the one to go back to, and the guard around it.
  private frame: Frame | undefined = undefined;
  private parent: Frame | undefined = undefined;
  private outer: Guard | undefined = undefined;
  /**
   * Whether `parent` lost a binding of a guard that was closed early. It then differs from `frame`
   * in more than what this guard binds, and cannot be brought back whole.
   */
  private repaired = false;
  /** The count of events at which it was opened or, later, closed. */
  private event = 0;
  private reported = false;

  /** Made by subclasses. */
  protected constructor(options: GuardOptions) {
    this.sync = options.sync;
    this.sites = options.sites;
    if (this.sites.left > 0) {
      this.sites.left--;
      this.site = captureSite(options.above);
    } else {
      this.site = undefined;
    }
  }

  /** @internal The frame to enter, not yet published. */
  protected abstract draft(parent: Frame): FrameDraft;

  /** @internal The slots that it binds; `undefined` if it replaces the whole frame. */
  protected abstract slots(): readonly GuardedSlot[] | undefined;

  /**
   * @internal What stands in the slot's place once this guard's part in it is undone, as
   * {@linkcode lookUp} gives it: what stands there in the `parent`, whatever is `visible` now.
   */
  protected undone(slot: GuardedSlot, parent: Frame, _visible: unknown): unknown {
    return slot.lookUpIn(parent);
  }

  /**
   * @internal What it makes of what stands `outside` in the slot's place. A guard that has this
   * hides nothing of the outside: it is applied anew when a guard outside it is closed first.
   */
  protected edited?(slot: GuardedSlot, outside: unknown): unknown;

  /**
   * The function that closes the guard. `using` reads it at the declaration, and that first read
   * is what binds.
   *
   * @throws {TypeError} If the guard was closed before: it is for one scope.
   */
  get [Symbol.dispose](): () => void {
    if (this.phase === "new") this.open();
    else if (this.phase === "closed") {
      throw new TypeError(
        `Cannot use the guard of ${this.label()} again: it is closed. Create a guard for each scope`,
      );
    }
    return this.close;
  }

  /** Binds, at the first read of `Symbol.dispose`. */
  private open(): void {
    const parent = currentFrame();
    const frame = this.draft(parent);
    frame[GUARD] = this;
    storage.enterWith(frame);
    this.phase = "open";
    this.parent = parent;
    this.frame = frame;
    this.outer = firstOpen(parent[GUARD] as Guard | undefined);
    this.event = ++guards.events;
    if (this.sync) watch(this);
  }

  /** Unbinds. Never throws. */
  private close(): void {
    if (this.phase !== "open") return;
    this.phase = "closed";
    this.event = ++guards.events;
    if (this.sync) unwatch();
    if (currentFrame() === this.frame && !this.repaired) storage.enterWith(this.parent!);
    else this.closeElsewhere(currentFrame());
    // Flows that began inside keep the guard in their frames: it must keep nothing of the outside
    // but the guards that are open still, for a flow that has this one as its innermost.
    this.frame = this.parent = undefined;
    this.outer = firstOpen(this.outer);
  }

  /** Closes where the current frame is not the one that was entered. */
  private closeElsewhere(current: Frame): void {
    const around = [...chain(current)];
    const own = around.indexOf(this);
    if (own < 0) {
      this.report(
        "guard-elsewhere",
        `was closed in a flow that is not inside it, so nothing was changed there. ` +
          `Close a guard in the function that opened it`,
      );
      return;
    }
    const inner = around.slice(0, own).reverse().filter((guard) => guard.phase === "open");
    const slots = this.slots();
    if (slots === undefined) storage.enterWith(this.parent!);
    else this.unbind(slots, inner, current);
    if (inner.length > 0) {
      this.report(
        "guard-out-of-order",
        `was closed before the guard of ${inner.map((g) => g.label()).join(", ")} inside it. ` +
          `Close guards in the reverse order, as "using" does`,
      );
    }
  }

  /**
   * Takes its bindings out of the current frame, and out of each frame that a guard inside it would
   * bring back, up to the first that binds the slot itself.
   */
  private unbind(slots: readonly GuardedSlot[], inner: readonly Guard[], current: Frame): void {
    let next = current;
    for (const slot of slots) {
      let undo = (visible: unknown) => this.undone(slot, this.parent!, visible);
      let hidden = false;
      for (const guard of inner) {
        guard.parent = put(guard.parent!, slot, undo(lookUp(guard.parent!, slot)));
        guard.repaired = true;
        if (!guard.binds(slot)) continue;
        const edited = guard.edited?.bind(guard, slot);
        hidden = edited === undefined;
        if (edited === undefined) break;
        const outside = undo;
        undo = (visible) => edited(outside(visible));
      }
      if (!hidden) next = put(next, slot, undo(lookUp(next, slot)));
    }
    if (inner.length === 0) {
      const draft = copy(next, next.length);
      draft[GUARD] = this.parent![GUARD];
      next = draft;
    }
    if (next !== current) storage.enterWith(next);
  }

  /** Whether what is visible inside it is its own. */
  private binds(slot: GuardedSlot): boolean {
    const slots = this.slots();
    return slots === undefined || slots.some(({ key }) => key === slot.key);
  }

  /** What it binds, for messages. */
  private label(): string {
    const slots = this.slots();
    return slots === undefined ? "a state" : slots.map(({ key }) => `"${key}"`).join(" and ");
  }

  /** Reports its first misuse. */
  private report(kind: MisuseKind, what: string): void {
    if (this.reported) return;
    this.reported = true;
    if (this.site === undefined) this.sites.left = SITES;
    const slots = this.slots();
    const message = `The guard of ${this.label()} ${what}`;
    // In a scope of its own: what a listener binds is not for the code that is reported.
    storage.run(currentFrame(), reportMisuse, kind, slots?.[0].key, message, this.site);
  }

  /** Reports the synchronous guards that are still open, now that their turn is over. */
  private static checkTurn(this: void): void {
    guards.checksTurn = false;
    for (const guard of guards.turn.splice(0)) {
      if (guard.phase !== "open") continue;
      // This microtask is in the frame of the first guard of the turn: another flow's, maybe.
      storage.run(guard.frame!, () => {
        guard.report(
          "guard-across-await",
          `was still open after an "await" or a "yield": what it bound may have reached the ` +
            `caller. Use the form for async functions: using _ = await ….enter(…)`,
        );
      });
    }
  }

  /**
   * Reports what a scope, entered at `events` in the frame `entered`, has left: its own guards that
   * are open still, and guards from outside that were closed in it.
   */
  private static checkScope(
    this: void,
    events: number,
    entered: Frame,
    left: Frame,
    yielded = false,
  ): void {
    for (const guard of chain(left)) {
      if (guard.phase === "open" && guard.event > events) {
        if (yielded) {
          guard.report(
            "guard-across-yield",
            `was open at a "yield". The consumer did not see what it bound, because the iterator ` +
              `is bound (bindIterator); without that it would. Close it before the "yield"`,
          );
          continue;
        }
        guard.report(
          "guard-left-open",
          `was still open when the function that opened it returned. Declare it with "using"; ` +
            `if that function is async: using _ = await ….enter(…)`,
        );
      }
    }
    for (const guard of chain(entered)) {
      if (guard.phase === "closed" && guard.event > events) {
        guard.report(
          "guard-left-open",
          `was closed inside a run(), scoped() or detached() that it was opened outside of: what ` +
            `it bound is back when that returns. Close a guard in the function that opened it`,
        );
      }
    }
  }
}

makeInspectable(Guard.prototype, (guard) => [
  ["phase", guard["phase"]],
  ["slots", guard["slots"]()?.map(({ key }) => key) ?? "all"],
]);

/** The guards around a frame, innermost first. */
function* chain(frame: Frame): Generator<Guard> {
  let guard = frame[GUARD] as Guard | undefined;
  while (guard !== undefined) {
    yield guard;
    guard = guard["outer"];
  }
}

function firstOpen(guard: Guard | undefined): Guard | undefined {
  while (guard !== undefined && guard["phase"] !== "open") guard = guard["outer"];
  return guard;
}

/** One microtask a turn serves all guards of the turn. */
function watch(guard: Guard): void {
  guards.turn.push(guard);
  if (guards.checksTurn) return;
  guards.checksTurn = true;
  queueMicrotask(Guard["checkTurn"]);
}

/** Guards nearly always close in the reverse order: the list stays as short as the nesting is deep. */
function unwatch(): void {
  const { turn } = guards;
  while (turn.length > 0 && turn[turn.length - 1]["phase"] === "closed") turn.pop();
}
