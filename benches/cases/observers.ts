import { addGlobalObserver, recordFunction } from "@thread-local/core/observers";
import { type Case, nanosecondsAtMost, type Row } from "../harness/row.ts";

let value = 0;
const operator = () => ++value;
const OPTIONS = { scope: "kernel-function" } as const;

const raw: Case = (meter) => meter.time(() => operator());

const recorded: Case = (meter) => meter.time(() => recordFunction("op", OPTIONS, operator));

const observed: Case = (meter) => {
  addGlobalObserver({ start: () => value, end: (_, started) => value = started + 1 });
  return recorded(meter);
};

export const rows: readonly Row[] = [
  {
    what: "recordFunction(), no observer / fn()",
    ours: recorded,
    raw,
    limit: nanosecondsAtMost(3),
  },
  {
    what: "recordFunction(), one observer / fn()",
    ours: observed,
    raw,
    limit: nanosecondsAtMost(300),
  },
];
