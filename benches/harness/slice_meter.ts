import process from "node:process";
import type { Meter } from "./row.ts";

/**
 * Receives every result, so that V8 cannot prove it unused and remove the work that made it. A young
 * object for each batch: storing a young result in an old one would cost as much as a `get()`.
 */
interface Sink {
  result: unknown;
}

let sink: Sink = { result: undefined };

/** Whether the last result is `what`: the reader that makes the writes to the sink count. */
export function lastResultIs(what: unknown): boolean {
  return sink.result === what;
}

const STEADY = 400_000;

/** Of which a slice is the median, where calls are awaited. */
const PARTS = 9;

/**
 * Measures in slices, each when it is asked for: one byte on the standard input asks, the answer
 * is a line `<calls> <nanoseconds>`, and the end of the input ends the measuring.
 */
export class SliceMeter implements Meter {
  readonly #milliseconds: number;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /**
   * By processor time: what else runs on the machine changes it less than it changes the clock,
   * and what the collector does on other threads counts.
   */
  time(op: () => unknown): void {
    const loop = (calls: number) => {
      const results: Sink = { result: undefined };
      for (let call = 0; call < calls; call++) results.result = op();
      sink = results;
    };
    const batch = this.#warmUp(loop);
    while (asked()) {
      const begin = performance.now();
      const used = process.cpuUsage();
      let calls = 0;
      do {
        loop(batch);
        calls += batch;
      } while (performance.now() - begin < this.#milliseconds);
      const { user, system } = process.cpuUsage(used);
      answer(calls, (user + system) * 1e3);
    }
  }

  /**
   * By the clock: the waiting counts. A slice is the median of its parts: a machine decides anew every
   * few milliseconds whether threads that wake each other share a processor, and a round trip on one
   * takes half as long as on two.
   */
  async timeAsync(op: () => Promise<unknown>): Promise<void> {
    const part = async () => {
      const begin = performance.now();
      let calls = 0;
      do {
        sink.result = await op();
        calls++;
      } while (performance.now() - begin < this.#milliseconds);
      return (performance.now() - begin) * 1e6 / calls;
    };
    const slice = async () => {
      const parts: number[] = [];
      for (let count = 0; count < PARTS; count++) parts.push(await part());
      return parts.sort((a, b) => a - b)[PARTS >> 1];
    };
    await slice();
    while (asked()) answer(1, await slice());
  }

  value(measured: number): void {
    while (asked()) answer(1, measured);
  }

  /**
   * Returns how many calls of the warm code take a small part of a slice. That takes V8 7 slices'
   * time, and {@linkcode STEADY} calls where they allocate: it must have seen which arrays survive,
   * and have grown its young generation.
   */
  #warmUp(loop: (calls: number) => void): number {
    // A marking that the set-up caused, and that nothing ends, would make each store dearer.
    (globalThis as { gc?: () => void }).gc?.();
    const begin = performance.now();
    const elapsed = () => performance.now() - begin;
    let batch = 1;
    let calls = 0;
    do {
      const before = elapsed();
      loop(batch);
      calls += batch;
      if (elapsed() - before < this.#milliseconds / 20) batch *= 2;
    } while (
      elapsed() < this.#milliseconds * 7 ||
      calls < STEADY && elapsed() < this.#milliseconds * 50
    );
    return batch;
  }
}

const byte = new Uint8Array(1);

function asked(): boolean {
  return Deno.stdin.readSync(byte) !== null;
}

const encoder = new TextEncoder();

function answer(calls: number, nanoseconds: number): void {
  Deno.stdout.writeSync(encoder.encode(`${calls} ${nanoseconds}\n`));
}
