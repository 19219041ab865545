// The worker of the benches' adapted pools.
import { ThreadLocal } from "@thread-local/core";
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import type { Chunk } from "@thread-local/core/workers";

for (let index = 0; index < 5; index++) {
  new ThreadLocal<unknown>(`bench.workers.${index}`, { wire: true });
}

/** Something that only a processor can do. */
function compute({ begin, end }: Chunk): number {
  let sum = 0;
  for (let i = begin; i < end; i++) {
    for (let j = 0; j < 100; j++) sum = Math.imul(sum, 31) + i + j | 0;
  }
  return sum;
}

threadLocalWorker<Chunk, Chunk | number>({
  echo: (chunk) => chunk!,
  compute: (chunk) => compute(chunk!),
});
