import { assertEquals } from "@std/assert";
import { check } from "./check.ts";

Deno.test("10,000 random programs read and report what the reference model says", async () => {
  const seed = Date.now() % 2 ** 31;

  const { programs } = await check(10_000, seed);

  assertEquals(programs, 10_000);
});
