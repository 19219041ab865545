import { detached } from "../propagation/confine.ts";
import { shared } from "../registry/shared.ts";
import { Thread } from "../registry/thread.ts";

/** How long an isolate holds what a thread of another one left here, and for how many of them. */
export interface LeaseOptions {
  /**
   * How long the instances of a foreign thread are held after the last of its nodes arrived, in
   * milliseconds: 1 … 2,147,483,647. Default: 60,000.
   */
  readonly leaseMs?: number;
}

const DEFAULT_LEASE_MS = 60_000;
const MAX_LEASE_MS = 2 ** 31 - 1;

/** A peer must not fill the memory with threads that it makes up. */
const MOST_THREADS = 10_000;

/** Where the list of own threads is looked through for collected ones. */
const SWEEP_AT_LEAST = 64;

interface Lease {
  readonly thread: Thread;
  ends: number;
}

interface Threads {
  /** Records of other isolates' threads, by id; each is held until it is ended or its lease is. */
  readonly foreign: Map<bigint, Lease>;
  /** This isolate's own threads whose nodes were sent out: what comes home is theirs. */
  readonly own: Map<bigint, WeakRef<Thread>>;
  sweepAt: number;
  /** When the first lease may end, and the timer for that. */
  due: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const threads = shared<Threads>("threads by id", () => ({
  foreign: new Map(),
  own: new Map(),
  sweepAt: SWEEP_AT_LEAST,
  due: Infinity,
  timer: undefined,
}));

/** Remembers a thread of this isolate whose node is sent to another. */
export function rememberThread(thread: Thread): void {
  // Not asked of `foreign`: nodes outlive the lease of their thread, and then name the next one.
  if (thread.isForeign) return;
  const { own } = threads;
  own.set(thread.id, new WeakRef(thread));
  if (own.size < threads.sweepAt) return;
  for (const [id, ref] of own) if (ref.deref() === undefined) own.delete(id);
  threads.sweepAt = Math.max(SWEEP_AT_LEAST, 2 * own.size);
}

/**
 * The thread of this id: this isolate's own if it is one, else the record of a foreign one, whose
 * lease begins anew.
 *
 * @throws {RangeError} If the lease is out of range, or there are too many foreign threads.
 */
export function threadOfId(
  id: bigint,
  name: string,
  { leaseMs = DEFAULT_LEASE_MS }: LeaseOptions,
): Thread {
  if (!(leaseMs >= 1 && leaseMs <= MAX_LEASE_MS)) {
    throw new RangeError(
      `Cannot lease a foreign thread for ${leaseMs} ms: expected 1 … ${MAX_LEASE_MS}`,
    );
  }
  const { foreign } = threads;
  const own = threads.own.get(id)?.deref();
  if (own !== undefined) return own;
  const ends = Date.now() + leaseMs;
  const known = foreign.get(id);
  if (known !== undefined) {
    known.ends = Math.max(known.ends, ends);
    return known.thread;
  }
  if (foreign.size >= MOST_THREADS) {
    throw new RangeError(
      `Cannot hold thread ${id} of another isolate: ${MOST_THREADS} are held already. ` +
        `End them with endForeignThread(id), or give them a shorter lease`,
    );
  }
  const thread = new Thread(name, undefined, id);
  foreign.set(id, { thread, ends });
  if (ends < threads.due) schedule(ends);
  return thread;
}

/**
 * Ends what a thread of another isolate left on this one: its RankLocal instances are let go, and
 * disposed as {@linkcode Thread.end} does. Call it when the thread's isolate says that it is done;
 * without that, its lease does it.
 *
 * @param id The thread's id, as `currentThread().id` gave it over there.
 * @returns Whether there was such a thread.
 * @throws {AggregateError} (rejects) If disposing threw.
 *
 * @example
 * ```ts
 * import { endForeignThread, Node, RankLocal } from "@thread-local/core";
 * import { assertEquals } from "@std/assert";
 *
 * const local = new RankLocal("endForeignThread.local", () => ({}));
 * const wire = {
 *   version: 1,
 *   name: "mul",
 *   thread: { id: "281474976710657", name: "rank 0" },
 *   state: { version: 1, bindings: [] },
 * };
 * Node.fromWire(wire, () => local.get()).evaluate();
 *
 * assertEquals(local.size, 1);
 * assertEquals(await endForeignThread(281474976710657n), true);
 * assertEquals(local.size, 0);
 * ```
 */
export async function endForeignThread(id: bigint): Promise<boolean> {
  const lease = threads.foreign.get(id);
  if (lease === undefined) return false;
  threads.foreign.delete(id);
  if (threads.foreign.size === 0) schedule(Infinity);
  await lease.thread.end();
  return true;
}

/** One timer for all leases, which does not keep the process alive. */
function schedule(due: number): void {
  clearTimeout(threads.timer);
  threads.due = due;
  threads.timer = undefined;
  if (due === Infinity) return;
  // Detached: the first node to come along must not lend its state to what is disposed later.
  threads.timer = detached(() => setTimeout(endLeases, Math.max(0, due - Date.now())));
  unref(threads.timer);
}

function endLeases(): void {
  const now = Date.now();
  let next = Infinity;
  for (const [id, { thread, ends }] of threads.foreign) {
    if (ends > now) {
      next = Math.min(next, ends);
      continue;
    }
    endForeignThread(id).catch((error) =>
      console.error(`The lease of thread "${thread.name}" (${id}) has ended:`, error)
    );
  }
  schedule(next);
}

/** A number on Deno and in browsers, an object on Node.js and Bun. */
function unref(timer: unknown): void {
  const { Deno } = globalThis as { Deno?: { unrefTimer(timer: unknown): void } };
  if (typeof timer === "object") (timer as { unref?(): void }).unref?.();
  else Deno?.unrefTimer(timer);
}
