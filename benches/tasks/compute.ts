import type { Chunk } from "@thread-local/core/workers";

/** Something that only a processor can do. */
export function compute({ begin, end }: Chunk): number {
  let sum = 0;
  for (let i = begin; i < end; i++) {
    for (let j = 0; j < 100; j++) sum = Math.imul(sum, 31) + i + j | 0;
  }
  return sum;
}
