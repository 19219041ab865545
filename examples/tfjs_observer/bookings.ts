import { DebugInfoKind, ThreadLocalDebugInfo } from "@thread-local/core/guards";
import type { Observer, RecordFunction } from "@thread-local/core/observers";
import type { TensorInfo } from "./kernels.ts";

/** On whose behalf the work runs: set once, at the top of a request. It may go to a worker. */
export const USER: DebugInfoKind<string> = new DebugInfoKind<string>("tfjs_observer.user", {
  wire: true,
});

/** One operator that ran. */
export interface Booking {
  readonly name: string;
  /** Whom the observer found in the debug info. */
  readonly user: string | null;
  /** Whose data it worked on; `undefined` if it worked on the model's alone. */
  readonly owner: string | undefined;
  /** Milliseconds since the epoch. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  /** The worker is in the top 16 bits. */
  readonly threadId: bigint;
}

/** Whose data a tensor is, known from the data alone: what comes of a user's data is that user's. */
const owners = new WeakMap<object, string>();

/** Says whose data a tensor is. */
export function claim(tensor: TensorInfo, user: string): void {
  owners.set(tensor.dataId, user);
}

const now = () => performance.timeOrigin + performance.now();

/** Books each operator to the user that it finds in the debug info. */
export class BookingObserver implements Observer<{ user: string | null; started: number }> {
  readonly bookings: Booking[] = [];
  readonly scopes = ["kernel-function"] as const;
  readonly needsInputs = true;
  readonly needsOutputs = true;

  start(): { user: string | null; started: number } {
    return { user: ThreadLocalDebugInfo.get(USER), started: now() };
  }

  end(range: RecordFunction, booked: { user: string | null; started: number }): void {
    const duration = now() - booked.started;
    const { name, threadId } = range;
    const inputs = range.inputs as TensorInfo[];
    const owner = inputs.map(({ dataId }) => owners.get(dataId)).find((o) => o !== undefined);
    if (owner !== undefined) {
      for (const output of range.outputs.flat() as TensorInfo[]) claim(output, owner);
    }
    this.bookings.push({ name, ...booked, owner, duration, threadId });
  }
}
