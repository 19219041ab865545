/**
 * Every kind of callback, in the order of the table.
 *
 * @module
 */
import type { Probe } from "../probe.ts";
import { events } from "./events.ts";
import { iterators } from "./iterators.ts";
import { messages } from "./messages.ts";
import { modules } from "./modules.ts";
import { network } from "./network.ts";
import { promises } from "./promises.ts";
import { streams } from "./streams.ts";
import { timers } from "./timers.ts";
import { websockets } from "./websockets.ts";

/** Those that this runtime has, and those that it has not. */
export const probes: readonly Probe[] = [
  ...promises,
  ...timers,
  ...iterators,
  ...events,
  ...streams,
  ...messages,
  ...network,
  ...websockets,
  ...modules,
];
