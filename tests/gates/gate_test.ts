import { assertEquals } from "@std/assert";
import { closingLine, countsIn } from "./gate.ts";

Deno.test("countsIn() reads the counts that deno test ends with", () => {
  const said = "mod.ts ... ok (1ms)\n\nFAILED | 12 passed (3 steps) | 2 failed | 1 ignored (9s)\n";

  assertEquals(countsIn(said), { passed: 12, failed: 2 });
});

Deno.test("countsIn() reads a closing line, the last where there are several", () => {
  const said = `Node 20   29 passed, 1 failed\n${closingLine({ passed: 58, failed: 1 })}\n`;

  assertEquals(countsIn(said), { passed: 58, failed: 1 });
});

Deno.test("countsIn() finds none where nothing was counted", () => {
  assertEquals(countsIn("error: Type checking failed.\n"), undefined);
});
