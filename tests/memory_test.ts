import { assertEquals, assertLess } from "@std/assert";
import { runChild } from "./fixtures/child.ts";

/** What is measured, in a process of its own that can collect. */
async function measure(name: string): Promise<number | boolean> {
  const { code, stdout, stderr } = await runChild("./memory.ts", name);
  assertEquals([code, stderr], [0, ""]);
  return JSON.parse(stdout)[name];
}

// What a hundred thousand rounds may add to the heap: code that was compiled meanwhile, and what
// else the runtime keeps. A leak of one small object a round adds twice as much at least.
const FLAT = 2_500_000;

for (
  const [what, name] of Object.entries({
    "a million ThreadLocal.run()": "runs",
    "ThreadLocal.run() across awaits": "runs across awaits",
    "a hundred thousand dropped states": "states",
    "guards and state guards": "sync guards",
    "async guards": "async guards",
    "ThreadLocal.set() and restoreThreadLocalState() in one flow": "set() and restore in one flow",
    "guards each of which opens inside the one before": "guards that overlap hand over hand",
    "misuse that is heard of": "misuse that is heard of",
  })
) {
  Deno.test(`The heap is flat after ${what}`, async () => {
    assertLess(await measure(name) as number, FLAT);
  });
}

for (
  const name of [
    "a value that run() bound",
    "a value that run() bound across an await",
    "a value of a dropped state",
    "a value that set() replaced",
    "a value that clear() dropped",
    "what without() leaves out",
    "what pick() leaves out",
    "an outer value that run() shadows",
    "an outer value in a shared place that run() shadows",
    "an outer value that detached() leaves",
    "an outer value that a closed sync guard shadowed",
    "an outer value that a closed async guard shadowed",
    "an outer value that a closed state guard shadowed",
    "an outer value that guards closed out of order shadowed",
    "the value of a closed guard that run() shadows inside",
    "the value of a closed async guard that run() shadows inside",
    "the value of a closed guard that a guard shadows inside",
    "the state of a closed state guard that detached() leaves inside",
    "the value of a guard that was never opened",
    "the value of a closed guard that is held",
  ]
) {
  Deno.test(`Collected, while work begun inside is alive: ${name}`, async () => {
    assertEquals(await measure(name), true);
  });
}

Deno.test("ThreadLocalState holds its values strongly", async () => {
  assertEquals(await measure("a value of a held state"), true);
});
