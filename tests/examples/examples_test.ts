import { assertEquals, assertMatch } from "@std/assert";
import { runExample } from "./run_example.ts";

/** What each prints: nothing wrong in its own way, something wrong in the way that it warns of. */
const printed: Readonly<Record<string, RegExp>> = {
  "queue.ts": /^queue: 0 of 200 jobs .*\n {2}\([1-9]\d* where the job is not bound\)\n$/,
  "connection_pool.ts":
    /^connection_pool: 0 of 200 callbacks .*, 0 connections .*\n {2}\([1-9]\d* and [1-9]\d* without .*\)\n$/,
  "batch_loader.ts": /^batch_loader: 0 of 600 rows .* in 40 selects\n {2}\([1-9]\d* in 2 .*\)\n$/,
  "websocket.ts": /^websocket: 0 of 600 messages .*\n {2}\(600 where .*\)\n$/,
  "test_hooks.ts": /^test_hooks: 0 of 200 tests .*\n {2}\([1-9]\d* where .*\)\n$/,
};

for (const [file, expected] of Object.entries(printed)) {
  Deno.test(`examples/${file} is right for 200 callers at once`, async () => {
    const { code, stdout, stderr } = await runExample(file);

    assertEquals(code, 0, `${stderr}${stdout}`);
    assertMatch(stdout, expected);
  });
}
