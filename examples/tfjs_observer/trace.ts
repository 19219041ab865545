import type { Booking } from "./bookings.ts";

/** An event of Chrome's trace format, as Perfetto and chrome://tracing read it. */
export interface TraceEvent {
  readonly name: string;
  readonly cat?: string;
  /** `X`: a complete event. `M`: the name of a process or thread. */
  readonly ph: "X" | "M";
  /** Microseconds since the first event. */
  readonly ts?: number;
  /** Microseconds. */
  readonly dur?: number;
  /** The worker; 0 is the isolate that began the others. */
  readonly pid: number;
  /** The logical thread, as its number within the worker. */
  readonly tid: number;
  readonly args: { readonly user?: string | null; readonly name?: string };
}

const COUNTER_BITS = 48;

/** The bookings as the object that a trace file holds. */
export function traceOf(bookings: readonly Booking[]): { readonly traceEvents: TraceEvent[] } {
  const first = Math.min(...bookings.map(({ started }) => started));
  const events = bookings.map(({ name, user, started, duration, threadId }): TraceEvent => ({
    name,
    cat: "kernel-function",
    ph: "X",
    ts: (started - first) * 1_000,
    dur: duration * 1_000,
    pid: Number(threadId >> BigInt(COUNTER_BITS)),
    tid: Number(BigInt.asUintN(COUNTER_BITS, threadId)),
    args: { user },
  }));
  return { traceEvents: [...namesOf(events), ...events.sort((a, b) => a.ts! - b.ts!)] };
}

function namesOf(events: readonly TraceEvent[]): TraceEvent[] {
  const names = new Map<string, TraceEvent>();
  for (const { pid, tid, args: { user } } of events) {
    const process = pid === 0 ? "main" : `worker ${pid}`;
    names.set(`${pid}`, { name: "process_name", ph: "M", pid, tid: 0, args: { name: process } });
    const thread = { name: `${user}, thread ${tid}` };
    names.set(`${pid}/${tid}`, { name: "thread_name", ph: "M", pid, tid, args: thread });
  }
  return [...names.values()];
}
