/** All-reduce: in one process through memory, from a worker through a message port. */
import type { Remote } from "comlink";
import type { ProcessGroup } from "./groups.ts";

interface Meeting {
  readonly given: (Float64Array | undefined)[];
  readonly sum: PromiseWithResolvers<Float64Array>;
  waitsFor: number;
}

/** Where the ranks meet. Sums in the order of ranks, so that a run can be repeated to the last bit. */
export class Rendezvous {
  readonly #meetings = new Map<string, Meeting>();

  constructor(readonly size: number) {}

  reduce(name: string, rank: number, data: Float64Array): Promise<Float64Array> {
    const meeting = this.#meetings.get(name) ?? {
      given: new Array<Float64Array | undefined>(this.size),
      sum: Promise.withResolvers<Float64Array>(),
      waitsFor: this.size,
    };
    this.#meetings.set(name, meeting);
    meeting.given[rank] = data;
    if (--meeting.waitsFor === 0) {
      this.#meetings.delete(name);
      const sum = new Float64Array(data.length);
      for (const part of meeting.given) part!.forEach((value, index) => sum[index] += value);
      meeting.sum.resolve(sum);
    }
    return meeting.sum.promise;
  }
}

/** How a rank reaches the rendezvous. */
type Reduce = (name: string, data: Float64Array) => Promise<Float64Array>;

/** A rank's end of a group. */
export class Group implements ProcessGroup {
  readonly #reduce: Reduce;
  readonly #calls = new Map<string, number>();
  isDestroyed = false;

  constructor(readonly rank: number, readonly size: number, reduce: Reduce) {
    this.#reduce = reduce;
  }

  /** The rendezvous is an object of this isolate, or one that comlink reaches in another. */
  static at(rendezvous: Rendezvous | Remote<Rendezvous>, rank: number, size: number): Group {
    return new Group(rank, size, async (name, data) => await rendezvous.reduce(name, rank, data));
  }

  allReduce(name: string, data: Float64Array): Promise<Float64Array> {
    const call = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, call);
    return this.#reduce(`${name}#${call}`, data);
  }
}
