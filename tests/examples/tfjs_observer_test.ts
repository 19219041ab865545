import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Booking } from "../../examples/tfjs_observer/bookings.ts";
import { type TraceEvent, traceOf } from "../../examples/tfjs_observer/trace.ts";
import { runExample } from "./run_example.ts";

const USERS = Array.from({ length: 20 }, (_, index) => `user-${index + 1}`);

/** Chrome's trace format, as far as the example uses it: what must hold of each event. */
function checkEvent(event: TraceEvent): void {
  const where = JSON.stringify(event);
  assertEquals(typeof event.name, "string", where);
  assert(Number.isSafeInteger(event.pid) && event.pid >= 0, where);
  assert(Number.isSafeInteger(event.tid) && event.tid >= 0, where);
  if (event.ph === "M") {
    assertMatch(event.name, /^(process|thread)_name$/, where);
    assertEquals(typeof event.args.name, "string", where);
    return;
  }
  assertEquals(event.ph, "X", where);
  assertEquals(event.cat, "kernel-function", where);
  assert(Number.isFinite(event.ts) && event.ts! >= 0, where);
  assert(Number.isFinite(event.dur) && event.dur! >= 0, where);
  assert(USERS.includes(event.args.user!), where);
}

Deno.test("examples/tfjs_observer.ts books no operator to the wrong user, and traces them all", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const { code, stdout, stderr } = await runExample("tfjs_observer.ts", "--trace", file);

    assertEquals(code, 0, `${stderr}${stdout}`);
    assertMatch(
      stdout,
      /^tfjs_observer: 0 of 1680 operators .*; [1-9]\d* are known .*, [1-9]\d* ran on workers$/m,
    );
    assertMatch(
      stdout,
      /^ {2}\([1-9]\d* of those that ran here where a module variable says who it is\)$/m,
    );
    const counts = [...stdout.matchAll(/^(user-\d+) +(\d+) operators in \d/gm)];
    assertEquals(counts.map(([, user]) => user), USERS);

    const { traceEvents } = JSON.parse(await Deno.readTextFile(file)) as ReturnType<typeof traceOf>;
    traceEvents.forEach(checkEvent);
    const ranges = traceEvents.filter(({ ph }) => ph === "X");
    for (const [, user, count] of counts) {
      assertEquals(ranges.filter(({ args }) => args.user === user).length, Number(count));
    }
    // A logical thread works for one user; each user's work is on several, here and on workers.
    const threads = Map.groupBy(ranges, ({ pid, tid }) => `${pid}/${tid}`);
    for (const events of threads.values()) {
      assertEquals(new Set(events.map(({ args }) => args.user)).size, 1);
    }
    assert(ranges.some(({ pid }) => pid === 0) && ranges.some(({ pid }) => pid > 0));
    const named = traceEvents.filter(({ name }) => name === "thread_name");
    assertEquals(new Set(named.map(({ pid, tid }) => `${pid}/${tid}`)), new Set(threads.keys()));
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("traceOf() makes events of a booking: microseconds, worker and thread", () => {
  const booking: Booking = {
    name: "MatMul",
    user: "ann",
    owner: "ann",
    started: 1_000,
    duration: 2,
    threadId: (3n << 48n) | 7n,
  };

  const { traceEvents } = traceOf([booking, { ...booking, started: 999.5, user: null }]);

  assertEquals(traceEvents.slice(2), [
    {
      name: "MatMul",
      cat: "kernel-function",
      ph: "X",
      ts: 0,
      dur: 2_000,
      pid: 3,
      tid: 7,
      args: { user: null },
    },
    {
      name: "MatMul",
      cat: "kernel-function",
      ph: "X",
      ts: 500,
      dur: 2_000,
      pid: 3,
      tid: 7,
      args: { user: "ann" },
    },
  ]);
});
