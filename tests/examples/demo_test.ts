import { assert, assertEquals, assertFalse } from "@std/assert";
import { runExample } from "./run_example.ts";

const { code, stdout, stderr } = await runExample("demo/main.ts");

/** The figures of a row: with the library, and without. */
function figures(label: string): number[] {
  const row = stdout.split("\n").find((line) => line.trim().startsWith(label)) ?? "";
  return [...row.matchAll(/[\d,]+/g)].map(([digits]) => Number(digits.replaceAll(",", "")));
}

Deno.test("demo ends with exit status 0", () => {
  assertEquals(code, 0, `${stderr}${stdout}`);
});

Deno.test("demo answers every request and writes seven lines for each, with the library and without", () => {
  assertEquals(figures("requests answered"), [1_000, 1_000]);
  assertEquals(figures("log lines"), [7_000, 7_000]);
});

Deno.test("demo counts no line with the wrong user or request with the library, many without", () => {
  const [users, usersOff] = figures("with the wrong user");
  const [requests, requestsOff] = figures("with the wrong request");

  assertEquals([users, requests], [0, 0]);
  assert(usersOff > 1_000 && requestsOff > 1_000, stdout);
});

Deno.test("demo writes a worker's lines with the user of the caller, without the library with nobody", () => {
  assertEquals(figures("on a worker"), [0, 1_000]);
});

Deno.test("demo prints the throughput of both", () => {
  const throughputs = figures("requests a second");

  assertEquals(throughputs.length, 2);
  assert(throughputs.every((each) => each > 0), stdout);
});

Deno.test("demo prints its progress, and no control codes, where stdout is not a terminal", () => {
  const progress = stdout.match(/ of 2,000 requests answered/g) ?? [];

  assert(progress.length > 1, stdout);
  assertFalse(stdout.includes("\x1b"));
});
