import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { inspect } from "node:util";
import { saveThreadLocalState, ThreadLocal } from "@thread-local/core/registry";

const user = new ThreadLocal<unknown>("inspect_test.user", { initial: "nobody" });
const request = new ThreadLocal<unknown>("inspect_test.request", { initial: undefined });
const token = new ThreadLocal("inspect_test.token", { initial: "no token", redact: true });

const state = user.run(
  "ann",
  () => request.run({ id: 1 }, () => token.run("s3cret", saveThreadLocalState)),
);

for (
  const [name, print] of [["Deno.inspect()", Deno.inspect], ["util.inspect()", inspect]] as const
) {
  Deno.test(`ThreadLocalState in ${name} shows keys and values`, () => {
    const printed = print(state.pick(user, request)).replaceAll("'", '"');

    assertEquals(
      printed,
      `ThreadLocalState { "inspect_test.user": "ann", "inspect_test.request": { id: 1 } }`,
    );
  });

  Deno.test(`ThreadLocalState in ${name} shows that a slot declared with redact: true is bound, not its value`, () => {
    const printed = print({ nested: [state] });

    assertStringIncludes(printed, `"inspect_test.token": <redacted>`);
    assertFalse(printed.includes("s3cret"));
  });

  Deno.test(`ThreadLocalState that binds nothing in ${name}`, () => {
    assertEquals(print(state.pick()), "ThreadLocalState {}");
  });

  Deno.test(`ThreadLocalState in ${name} may bind a value that holds the state`, () => {
    const holder: { state?: unknown } = {};
    holder.state = user.run(holder, saveThreadLocalState);

    assertStringIncludes(print(holder), "ircular");
  });
}

Deno.test("ThreadLocalState as a string shows keys and values, and no redacted one", () => {
  const printed = `${state}`;

  assertStringIncludes(printed, `"inspect_test.user": ann`);
  assertFalse(printed.includes("s3cret"));
});

Deno.test("ThreadLocalState as JSON shows keys and values, and no redacted one", () => {
  assertEquals(JSON.parse(JSON.stringify({ state })), {
    state: {
      "inspect_test.user": "ann",
      "inspect_test.request": { id: 1 },
      "inspect_test.token": "<redacted>",
    },
  });
});
