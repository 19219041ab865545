/** Where a handler's work goes on. In each place a request writes one line. */
export const PLACES = [
  "after an await",
  "after a timer",
  "in a queued job",
  "on a pooled connection",
  "in an async generator",
  "on a worker",
  "in a bound callback",
] as const;

export type Place = typeof PLACES[number];

/** A line of the server's log. */
export interface LogLine {
  readonly user: string;
  readonly request: string;
  /** Comes with the work, as an argument: who knows the orders knows whose line this really is. */
  readonly order: number;
  readonly place: Place;
}
