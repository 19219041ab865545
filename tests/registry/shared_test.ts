import { assertEquals, assertStrictEquals } from "@std/assert";
import { shared } from "../../registry/shared.ts";
import { runChild } from "../fixtures/child.ts";

Deno.test("shared() makes a value once, also one that is undefined", () => {
  let calls = 0;
  const create = () => void calls++;

  assertEquals([shared("shared_test.undefined", create), shared("shared_test.undefined", create)], [
    undefined,
    undefined,
  ]);

  assertEquals(calls, 1);
});

Deno.test("shared() gives every caller the same value", () => {
  assertStrictEquals(
    shared<object>("shared_test.object", () => ({})),
    shared<object>("shared_test.object", () => ({})),
  );
});

Deno.test("Two copies of the package share slots, storage, frames, states, guards and reports", async () => {
  const { code, stdout, stderr } = await runChild("./copies.ts", "same");

  assertEquals([code, stderr], [0, ""]);
  const ofState = ["o", "p", 1, ["ann", "o"], ["ann", "o"], "ann", "nobody"];
  const ofGuards = (inside: string[]) => [
    inside,
    ["ann", "o"],
    [false, false],
    [false, false],
    [["guard-out-of-order", "copies.user"]],
  ];
  assertEquals(JSON.parse(stdout), {
    "two copies": true,
    "no warning": 0,
    "one registry": [true, true, true],
    "a second declaration": "DuplicateSlotError",
    "shared slot": true,
    "current frame": ["ann", "x"],
    "bound undefined": ["undefined"],
    "detached and scoped": ["nobody", "ann"],
    "a state of the first copy": ofState,
    "a state of the second copy": ofState,
    "guards, the first copy's outside": ofGuards(["ann", "inner"]),
    "guards, the second copy's outside": ofGuards(["inner", "o"]),
    "a guard across an await, heard by the other copy": ["guard-across-await"],
  });
});

Deno.test("A copy with another protocol number warns once and keeps to itself", async () => {
  const { code, stdout, stderr } = await runChild("./copies.ts", "other");

  assertEquals([code, stderr], [0, ""]);
  assertEquals(JSON.parse(stdout), {
    "warnings": 1,
    "names both numbers": true,
    "copies of one number": true,
    "frames": ["ann", "bob", 1],
    "registries": [1, 1],
    "a state of theirs": ["TypeError", "TypeError", false],
    "a slot of theirs": "TypeError",
  });
});
