import { threadLocalWorker } from "@thread-local/core/workers/worker";
import { Bookings, operator } from "./_user.ts";

threadLocalWorker({
  /** What an observer of the worker books while it runs an operator, before and after an await. */
  async book(): Promise<string[]> {
    using bookings = new Bookings();
    operator("first");
    await Promise.resolve();
    operator("second");
    return bookings.lines;
  },
});
