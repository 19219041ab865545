import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import {
  bindIterator,
  bindThreadLocalState,
  fork,
  parallelFor,
  saveThreadLocalState,
  ThreadLocal,
  type ThreadLocalState,
} from "@thread-local/core";
import { atMost, type Case, fasterBy, type Row } from "../harness/row.ts";

/** What a baseline's storage holds: a fresh one for each binding, as ours has a fresh frame. */
interface Box {
  readonly value: number;
}

let value = 0;
const body = (a: number, b: number) => a + b;

/** A state in which `count` slots are bound. */
function bound(count: number): ThreadLocalState {
  return Array.from(
    { length: count },
    (_, index) =>
      new ThreadLocal<unknown>(`bench.propagation.${index}`, { initial: -1, shared: true }),
  ).reduce((state, slot, value) => state.with(slot, { value }), saveThreadLocalState());
}

const wrap: Case = (meter) =>
  bound(16).run(() => meter.time(() => bindThreadLocalState((a: number) => a)));

const rawWrap: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return als.run({ value: 0 }, () => meter.time(() => AsyncResource.bind((a: number) => a)));
};

/** Called where another state is current, as a queue would. */
const call: Case = (meter) => {
  const state = bound(16);
  const wrapped = state.run(() => bindThreadLocalState(body));
  return bound(1).run(() => meter.time(() => wrapped(++value, 1)));
};

const rawCall: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  const wrapped = als.run({ value: 0 }, () => AsyncResource.bind(body));
  return als.run({ value: 1 }, () => meter.time(() => wrapped(++value, 1)));
};

const begin = (count: number): Case => (meter) =>
  bound(count).run(() => meter.time(() => fork(body, undefined, ++value, 1)));

const rawRun: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  return als.run({ value: 0 }, () => meter.time(() => als.run({ value: ++value }, body, 1, 1)));
};

function* endless(): Generator<number> {
  for (;;) yield ++value;
}

const step: Case = (meter) => {
  const it = bound(16).run(() => bindIterator(endless()));
  return bound(1).run(() => meter.time(() => it.next()));
};

const rawStep: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  const it = endless();
  const next = () => it.next();
  return als.run({ value: 0 }, () => meter.time(() => als.run({ value: ++value }, next)));
};

const CHUNKS = 64;

const loop: Case = (meter) =>
  bound(16).run(() =>
    meter.timeAsync(() => parallelFor({ begin: 0, end: CHUNKS, grainSize: 1 }, body))
  );

/** As many chunks, each in a run of its own, awaited together. */
const rawLoop: Case = (meter) => {
  const als = new AsyncLocalStorage<Box>();
  const chunk = (index: number) => Promise.resolve(als.run({ value: index }, body, index, 1));
  const indexes = Array.from({ length: CHUNKS }, (_, index) => index);
  return als.run({ value: 0 }, () => meter.timeAsync(() => Promise.all(indexes.map(chunk))));
};

/** The lines of the table for what follows the work. */
export const rows: readonly Row[] = [
  {
    what: "bindThreadLocalState() / AsyncResource.bind",
    ours: wrap,
    raw: rawWrap,
    limit: fasterBy(25),
  },
  { what: "a bound call / AsyncResource.bind's", ours: call, raw: rawCall, limit: atMost(1) },
  { what: "fork(), 1 slot bound / als.run", ours: begin(1), raw: rawRun, limit: atMost(2) },
  { what: "fork(), 16 bound / als.run", ours: begin(16), raw: rawRun, limit: atMost(2) },
  { what: "a step of bindIterator() / als.run", ours: step, raw: rawStep, limit: atMost(1.3) },
  {
    what: `parallelFor(), ${CHUNKS} chunks / Promise.all of als.run`,
    ours: loop,
    raw: rawLoop,
    limit: atMost(4),
  },
];
