import { addGlobalObserver, recordFunction } from "@thread-local/core/observers";
import { type Case, nanosecondsAtMost, type Row } from "../harness/row.ts";

let value = 0;
const body = () => ++value;
const options = {};

const unobserved: Case = (meter) => meter.time(() => recordFunction("bench", options, body));

const rawCall: Case = (meter) => meter.time(() => body());

const observed: Case = (meter) => {
  addGlobalObserver({ start: () => ++value, end: () => ++value });
  return meter.time(() => recordFunction("bench", options, body));
};

/** The lines of the table for the observers of operators. */
export const rows: readonly Row[] = [
  {
    what: "recordFunction(), no observer − fn()",
    ours: unobserved,
    raw: rawCall,
    limit: nanosecondsAtMost(3),
  },
  {
    what: "recordFunction(), one observer − fn()",
    ours: observed,
    raw: rawCall,
    limit: nanosecondsAtMost(300),
  },
];
