// The worker of the benches' adapted pools.
import { ThreadLocal } from "@thread-local/core";
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import type { Chunk } from "@thread-local/core/workers";
import { compute } from "./compute.ts";

for (let index = 0; index < 5; index++) {
  new ThreadLocal<unknown>(`bench.workers.${index}`, { wire: true });
}

threadLocalWorker<Chunk, Chunk | number>({
  echo: (chunk) => chunk!,
  compute: (chunk) => compute(chunk!),
});
