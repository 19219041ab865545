import { AsyncLocalStorage } from "node:async_hooks";
import { context, createContextKey, ROOT_CONTEXT } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { saveThreadLocalState, ThreadLocal, type ThreadLocalState } from "@thread-local/core";
import { atMost, bytesAtMost, type Case, fasterBy, type Row } from "../harness/row.ts";

/** What a baseline's storage holds: a fresh one for each binding, as ours has a fresh frame. */
interface Box {
  readonly value: number;
}

const body = () => 1;
let value = 0;

/** The same slots for every case, also where cases run in one process. */
const declare = (index: number) =>
  new ThreadLocal<unknown>(`bench.${index}`, { initial: -1, shared: true });

/** Declares `count` slots, and a state in which all of them are bound. */
function bound(count: number): { slots: ThreadLocal<unknown>[]; state: ThreadLocalState } {
  const slots = Array.from(
    { length: count },
    (_, index) => declare(index),
  );
  const state = slots.reduce(
    // An object as in the baselines: storing one as a result costs more than storing a number.
    (state, slot, value) => state.with(slot, { value }),
    saveThreadLocalState(),
  );
  return { slots, state };
}

/** Reads the slot that was declared last: with more than 16, it shares its place with others. */
const get = (count: number): Case => (meter) => {
  const { slots, state } = bound(count);
  const slot = slots[count - 1];
  return state.run(() => meter.time(() => slot.get()));
};

const run = (count: number): Case => (meter) => {
  const { slots, state } = bound(count);
  const slot = slots[count - 1];
  return state.run(() => meter.time(() => slot.run(++value, body)));
};

const rawGet: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return als.run({ value: 1 }, () => meter.time(() => als.getStore()));
};

const rawRun: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return als.run({ value: 0 }, () => meter.time(() => als.run({ value: ++value }, body)));
};

const save: Case = (meter) => {
  const { state } = bound(16);
  return state.run(() => meter.time(() => saveThreadLocalState()));
};

const rawSnapshot: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return als.run({ value: 1 }, () => meter.time(() => AsyncLocalStorage.snapshot()));
};

const restore: Case = (meter) => {
  const { state } = bound(64);
  return meter.time(() => state.run(body));
};

const rawRestore: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return meter.time(() => als.run({ value: ++value }, body));
};

const rawNested: Case = (meter) => {
  const storages = Array.from({ length: 64 }, () => new AsyncLocalStorage<Box>());
  const saved = storages.map((_, value): Box => ({ value }));
  const restoreFrom = (index: number): number =>
    index === 64 ? body() : storages[index].run(saved[index], restoreFrom, index + 1);
  return meter.time(() => restoreFrom(0));
};

const guard: Case = (meter) => {
  const { slots: [slot], state } = bound(1);
  return state.run(() =>
    meter.time(() => {
      using _ = slot.with(++value);
      return body();
    })
  );
};

const rawPair: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return als.run({ value: 0 }, () =>
    meter.time(() => {
      const previous = als.getStore()!;
      als.enterWith({ value: ++value });
      const result = body();
      als.enterWith(previous);
      return result;
    }));
};

/** A context manager of OpenTelemetry's, enabled, and a context that binds `key`. */
function openTelemetry() {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const key = createContextKey("bench");
  return { key, bound: ROOT_CONTEXT.setValue(key, 1) };
}

const otelGet: Case = (meter) => {
  const { key, bound } = openTelemetry();
  return context.with(bound, () => meter.time(() => context.active().getValue(key)));
};

const otelRun: Case = (meter) => {
  const { key, bound } = openTelemetry();
  return context.with(
    bound,
    () => meter.time(() => context.with(context.active().setValue(key, ++value), body)),
  );
};

const otelCapture: Case = (meter) => {
  const { bound } = openTelemetry();
  return context.with(bound, () => meter.time(() => context.active()));
};

const otelRestore: Case = (meter) => {
  const { bound } = openTelemetry();
  return meter.time(() => context.with(bound, body));
};

const HELD = 100_000;

const memory: Case = (meter) => {
  const { slots, state } = bound(16);
  const slot = slots[0];
  const held: unknown[] = new Array(HELD);
  const fill = () => {
    for (let n = 0; n < HELD; n++) held[n] = slot.run(n, saveThreadLocalState);
  };
  state.run(fill); // Once before: what only the first calls allocate is not a state's.
  held.fill(undefined);
  const before = usedHeap();
  state.run(fill);
  meter.value((usedHeap() - before) / HELD);
};

/** Bytes, after a forced collection (twice: the first may leave what a WeakMap held). */
function usedHeap(): number {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) return NaN; // Without --expose-gc, under `deno bench`.
  gc();
  gc();
  return Deno.memoryUsage().heapUsed;
}

/** The core's lines of the table. */
export const rows: readonly Row[] = [
  { what: "get(), 1 slot bound / getStore()", ours: get(1), raw: rawGet, limit: atMost(1.25) },
  { what: "get(), 16 bound / getStore()", ours: get(16), raw: rawGet, limit: atMost(1.25) },
  { what: "get(), 1,000 bound / getStore()", ours: get(1_000), raw: rawGet, limit: atMost(1.25) },
  {
    what: "get(), no frame anywhere / getStore() ?? initial",
    ours: (meter) => {
      const slot = declare(0);
      return meter.time(() => slot.get());
    },
    raw: (meter) => {
      const als = new AsyncLocalStorage<number>();
      return meter.time(() => als.getStore() ?? -1);
    },
    limit: atMost(1),
  },
  { what: "run(), 1 slot bound / als.run", ours: run(1), raw: rawRun, limit: atMost(1.3) },
  { what: "run(), 16 bound / als.run", ours: run(16), raw: rawRun, limit: atMost(1.3) },
  { what: "run(), 1,000 bound / 1 bound", ours: run(1_000), raw: run(1), limit: atMost(2) },
  { what: "state.run(), 64 slots / als.run", ours: restore, raw: rawRestore, limit: atMost(1.1) },
  {
    what: "state.run(), 64 slots / 64 nested als.run",
    ours: restore,
    raw: rawNested,
    limit: fasterBy(50),
  },
  { what: "saveThreadLocalState() / getStore()", ours: save, raw: rawGet, limit: atMost(1.5) },
  {
    what: "saveThreadLocalState() / snapshot()",
    ours: save,
    raw: rawSnapshot,
    limit: fasterBy(25),
  },
  { what: "using slot.with() / enterWith pair", ours: guard, raw: rawPair, limit: atMost(1.4) },
  { what: "get() / OpenTelemetry", ours: get(1), raw: otelGet, limit: fasterBy(1) },
  { what: "run() / OpenTelemetry set and with", ours: run(1), raw: otelRun, limit: fasterBy(1) },
  { what: "save / OpenTelemetry active()", ours: save, raw: otelCapture, limit: fasterBy(1) },
  { what: "restore / OpenTelemetry with()", ours: restore, raw: otelRestore, limit: fasterBy(1) },
  { what: "a saved state of 16 slots", ours: memory, limit: bytesAtMost(250) },
];
