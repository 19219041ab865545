import { assert, assertEquals } from "@std/assert";
import { type ChildResult, runChild } from "../fixtures/child.ts";

// A million of them: deno task load.
const load = await runChild("../load/main.ts", "20000");
const unbound = await runChild("../load/main.ts", "2000", "--unbound");

const KINDS = [
  "fork",
  "job of a p-queue",
  "listener of an EventTarget",
  "listener of an EventEmitter",
  "iterator",
  "parallelFor",
  "task of a worker",
  "parallelFor on workers",
];

/** The figures of a row. */
function figures({ stdout }: ChildResult, label: string): number[] {
  const row = stdout.split("\n").find((line) => line.startsWith(`  ${label}   `)) ?? "";
  return [...row.slice(label.length + 2).matchAll(/[\d,]+/g)].map(([digits]) =>
    Number(digits.replaceAll(",", ""))
  );
}

Deno.test("load ends with exit status 0 where nothing is wrong and the heap is flat", () => {
  const { code, stdout, stderr } = load;

  assertEquals(code, 0, `${stderr}${stdout}`);
});

Deno.test("load performs 20,000 tasks by 1,000 users, the same number of every kind", () => {
  assert(load.stdout.includes("20,000 tasks by 1,000 users, 200 at once, 4 workers"), load.stdout);
  assertEquals(figures(load, "all")[0], 20_000);
  for (const kind of KINDS) assertEquals(figures(load, kind)[0], 2_500, kind);
});

Deno.test("load reads another's value nowhere: 0 of 107,500 reads", () => {
  const [, reads, wrong] = figures(load, "all");

  assertEquals([reads, wrong], [107_500, 0]);
  for (const kind of KINDS) assertEquals(figures(load, kind)[2], 0, kind);
});

Deno.test("load reads nothing between the tasks, and misuses nothing", () => {
  assertEquals(figures(load, "between the tasks"), [0, 20_000, 0]);
  assertEquals(figures(load, "reports of misuse"), [0]);
});

Deno.test("load prints the heap early and late, of its isolate and of the workers", () => {
  for (const label of ["this isolate", "4 workers"]) {
    const heaps = figures(load, label);

    assertEquals(heaps.length, 2, label);
    assert(heaps.every((heap) => heap > 0), load.stdout);
  }
});

Deno.test("load finds wrong reads of every kind without the library's help, and fails", () => {
  assertEquals(unbound.code, 1, unbound.stderr);
  for (const kind of KINDS) assert(figures(unbound, kind)[2] > 0, `${kind}\n${unbound.stdout}`);
});
