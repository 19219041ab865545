import { assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { inspect } from "node:util";
import { ThreadLocalStateGuard } from "@thread-local/core/guards";
import { bindThreadLocalState, currentThread, fork, Node, RankLocal } from "@thread-local/core";
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

const credentials = new RankLocal("inspect_test.credentials", () => "s3cret");

/** What holds a frame, or the instances of a thread. */
const holders = await token.run("s3cret", () =>
  fork(() => {
    credentials.get();
    const closed = new ThreadLocalStateGuard(saveThreadLocalState());
    closed[Symbol.dispose]();
    return {
      "a thread": currentThread(),
      "a node": new Node("mul", () => {}),
      "a guard": token.with("s3cret"),
      "a guard of a whole state": new ThreadLocalStateGuard(saveThreadLocalState()),
      "a closed guard": closed,
      "a slot": new ThreadLocal("inspect_test.slot", { initial: "s3cret", redact: true }),
      "a RankLocal": credentials,
    };
  }, { name: "rank 0" }));

const PRINTERS: Record<string, (value: unknown) => string> = {
  "Deno.inspect()": Deno.inspect,
  "util.inspect()": inspect,
  "String()": String,
  "JSON": (value) => JSON.stringify(value),
};

Deno.test("a bound function shows no frame, even where proxies are shown", () => {
  const bound = token.run("s3cret", () => bindThreadLocalState(() => {}));

  assertFalse(Deno.inspect(bound, { showProxy: true }).includes("s3cret"));
});

for (const [holds, holder] of Object.entries(holders)) {
  Deno.test(`the prototype of ${holds} can be printed`, () => {
    assertMatch(Deno.inspect(Object.getPrototypeOf(holder)), /^\w+ \{\}$/);
  });

  for (const [name, print] of Object.entries(PRINTERS)) {
    Deno.test(`${holds} in ${name} shows no redacted value and no instance`, () => {
      const printed = print(holder);

      assertFalse(printed.includes("s3cret"), printed);
      assertFalse(printed.includes("[object"), printed);
    });
  }
}

Deno.test("a thread in Deno.inspect() and JSON shows its id, its name and its parent's id", () => {
  const { id, parentId } = holders["a thread"];

  assertEquals(
    Deno.inspect(holders["a thread"]),
    `Thread { id: ${id}n, name: "rank 0", parentId: ${parentId}n }`,
  );
  assertEquals(JSON.parse(JSON.stringify(holders["a thread"])), {
    id: String(id),
    name: "rank 0",
    parentId: String(parentId),
  });
});

Deno.test("a guard in Deno.inspect() shows the keys that it binds", () => {
  assertEquals(
    Deno.inspect(holders["a guard"]),
    `SlotGuard { phase: "new", slots: [ "inspect_test.token" ] }`,
  );
});

Deno.test("a slot and a RankLocal in Deno.inspect() show their keys, and what can be told", () => {
  const made = new ThreadLocal("inspect_test.made", { init: () => "made" });

  assertEquals(Deno.inspect(user), `ThreadLocal { key: "inspect_test.user", initial: "nobody" }`);
  assertEquals(
    Deno.inspect(token),
    `ThreadLocal { key: "inspect_test.token", initial: <redacted> }`,
  );
  assertEquals(Deno.inspect(made), `ThreadLocal { key: "inspect_test.made" }`);
  assertEquals(Deno.inspect(credentials), `RankLocal { key: "inspect_test.credentials", size: 1 }`);
});
