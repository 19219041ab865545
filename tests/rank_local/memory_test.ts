import { assert, assertEquals } from "@std/assert";
import { runChild } from "../fixtures/child.ts";

Deno.test("RankLocal instances of 100,000 threads go with their threads, and when a thread ends", async () => {
  const { stdout, stderr } = await runChild("rank_local_memory.ts");

  assertEquals(stderr, "");
  const { collected, size, ended, grown } = JSON.parse(stdout);
  assertEquals([collected, size, ended], [20, 1, true]);
  assert(grown < 6_000_000, `the heap grew by ${grown} bytes`);
});
