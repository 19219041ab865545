import type { LogLine, Place } from "./log_line.ts";
import { requestId, user } from "./slots.ts";

/** Writes a JSON line. Nobody hands it the user: it reads the slots, wherever it is called. */
export function log(place: Place, order: number): void {
  const line: LogLine = { user: user.get(), request: requestId.get(), order, place };
  console.log(JSON.stringify(line));
}
