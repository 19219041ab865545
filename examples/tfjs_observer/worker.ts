import { addThreadLocalObserver } from "@thread-local/core/observers";
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import { type Booking, BookingObserver } from "./bookings.ts";
import { recordKernels } from "./kernels.ts";
import { predict } from "./model.ts";

/** What a request sends to a worker. */
export interface Job {
  /** For the check alone: whose data it is. The observer finds the user in the debug info. */
  readonly owner: string;
  readonly features: readonly number[];
}

/** What it gets back. */
export interface Answer {
  readonly kinds: number[];
  /** The operators that ran for it. */
  readonly bookings: Booking[];
}

const ready = recordKernels();

threadLocalWorker<Job, Answer>({
  async predict(job?: Job): Promise<Answer> {
    await ready;
    // A task is a thread of its own: its observer is told of its operators only, and goes with it.
    const observer = new BookingObserver();
    addThreadLocalObserver(observer);
    const kinds = await predict(job!.owner, job!.features);
    return { kinds, bookings: observer.bookings };
  },
});
