import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { type MisuseReport, onMisuse, scoped, ThreadLocal } from "@thread-local/core";
import { inTurnOfItsOwn } from "../fixtures/everywhere.ts";
import { runChild } from "../fixtures/child.ts";

const user = new ThreadLocal("misuse_test.user", { initial: "nobody" });

/** Leaves a guard of `slot` open in a scope. */
function misuse(slot: ThreadLocal<string> = user): void {
  scoped(() => void new DisposableStack().use(slot.with("left open")));
}

/** Puts another function in the place of a console method. */
function replaceConsole(name: "warn" | "error", fn: (...args: unknown[]) => void): Disposable {
  const original = console[name];
  console[name] = fn;
  return { [Symbol.dispose]: () => void (console[name] = original) };
}

Deno.test("onMisuse() gives its listener kind, key, message and the stack of the creation", () => {
  const reports: MisuseReport[] = [];
  using _ = onMisuse((report) => reports.push(report));

  misuse();

  assertEquals(reports.length, 1);
  const [{ kind, key, message, stack }] = reports;
  assertEquals([kind, key], ["guard-left-open", "misuse_test.user"]);
  assert(message.startsWith(`The guard of "misuse_test.user" was still open when`));
  assert(message.includes("await ….enter("));
  const lines = stack!.split("\n");
  assert(lines[0].includes(import.meta.url));
  assert(lines.some((line) => line.includes("misuse (")));
});

Deno.test("onMisuse() calls its listener at once, in the state of the code that is reported", () => {
  const heard: string[] = [];
  using _ = onMisuse(() => heard.push(user.get()));

  scoped(() => {
    user.set("outer");
    misuse();
    assertEquals(heard, ["left open"]);
  });
});

Deno.test("onMisuse() tells every listener, in the order in which they came", () => {
  const heard: number[] = [];
  using _one = onMisuse(() => heard.push(1));
  using _two = onMisuse(() => heard.push(2));

  misuse();

  assertEquals(heard, [1, 2]);
});

Deno.test("onMisuse() stops when it is disposed, and may be disposed twice", () => {
  const heard: number[] = [];
  using _ = onMisuse(() => heard.push(1));
  const second = onMisuse(() => heard.push(2));

  second[Symbol.dispose]();
  second[Symbol.dispose]();
  misuse();

  assertEquals(heard, [1]);
});

Deno.test("onMisuse() with one function twice is two listeners, each stopping on its own", () => {
  let heard = 0;
  const listener = () => void heard++;
  using _ = onMisuse(listener);
  {
    using _ = onMisuse(listener);
    misuse();
    assertEquals(heard, 2);
  }

  misuse();

  assertEquals(heard, 3);
});

Deno.test("onMisuse(): a listener that stops another while it hears does not disturb the report", () => {
  const heard: number[] = [];
  using _ = onMisuse(() => {
    heard.push(1);
    second[Symbol.dispose]();
  });
  const second = onMisuse(() => heard.push(2));

  misuse();
  misuse();

  assertEquals(heard, [1, 2, 1]);
});

Deno.test("onMisuse(): a listener that throws is printed, and neither the code nor the others notice", () => {
  const failure = new Error("listener");
  const printed: unknown[][] = [];
  const heard: number[] = [];
  using _console = replaceConsole("error", (...args) => printed.push(args));
  using _one = onMisuse(() => {
    throw failure;
  });
  using _two = onMisuse(() => heard.push(2));

  misuse();

  assertEquals(heard, [2]);
  assertEquals(printed.length, 1);
  assertStrictEquals(printed[0].at(-1), failure);
});

Deno.test("onMisuse(): a listener and a console that both throw do not reach the code", () => {
  using _console = replaceConsole("error", () => {
    throw new Error("console");
  });
  using _listener = onMisuse(() => {
    throw new Error("listener");
  });

  misuse();
});

Deno.test("onMisuse(): a listener that misuses the library itself is heard of, without end", () => {
  let heard = 0;
  using _ = onMisuse(() => {
    if (++heard < 5) misuse();
  });

  misuse();

  assertEquals(heard, 5);
});

Deno.test("onMisuse(): what a listener binds does not reach the code that is reported", async () => {
  const locale = new ThreadLocal("misuse_test.locale", { initial: "en" });
  const heard: string[] = [];
  using _ = onMisuse(({ kind }) => {
    heard.push(kind);
    locale.set("the listener's");
  });

  const seen = await inTurnOfItsOwn(() => {
    misuse();
    const guards = [user.with("ann"), user.with("bob")];
    for (const guard of guards) new DisposableStack().use(guard);
    for (const guard of guards) guard[Symbol.dispose]();
    return locale.get();
  });

  assertEquals(heard, ["guard-left-open", "guard-out-of-order"]);
  assertEquals(seen, "en");
});

for (const foreign of [undefined, null, {}, "listener"]) {
  Deno.test(`onMisuse() rejects ${Deno.inspect(foreign)} as a listener`, () => {
    assertThrows(() => onMisuse(foreign as never), TypeError, "Cannot listen to misuse");
  });
}

// MisuseReport.stack

Deno.test("MisuseReport.stack is there for the first 64 guards of a slot, and the 64 after a report without", () => {
  const stacks: boolean[] = [];
  using _ = onMisuse(({ stack }) => stacks.push(stack !== undefined));
  const slot = new ThreadLocal("misuse_test.budget", { initial: "" });
  const make = (count: number) => {
    for (let i = 0; i < count; i++) slot.with("");
  };

  make(63);
  misuse(slot); // the 64th
  misuse(slot); // the 65th has none, and fills the budget again
  misuse(slot);
  make(62);
  misuse(slot); // the 64th since
  misuse(slot);

  assertEquals(stacks, [true, false, true, true, false]);
});

Deno.test("MisuseReport.stack: one slot's guards do not use up another's", () => {
  const stacks: boolean[] = [];
  using _ = onMisuse(({ stack }) => stacks.push(stack !== undefined));
  const [busy, quiet] = ["busy", "quiet"].map((name) =>
    new ThreadLocal(`misuse_test.${name}`, { initial: "" })
  );

  for (let i = 0; i < 1_000; i++) busy.with("");
  misuse(quiet);

  assertEquals(stacks, [true]);
});

// Without a listener

Deno.test("onMisuse(): while nobody listens, each site warns once on the console", async () => {
  const { code, stdout, stderr } = await runChild("./misuse_warnings.ts");

  assertEquals([code, stderr], [0, ""]);
  assertEquals(JSON.parse(stdout), {
    "one site, many times": 1,
    "another site": 1,
    "another kind at a site": 1,
    "with a listener": 0,
    "after the listener, at a site that was heard of only": 1,
    "a console that throws": 0,
    "beyond a thousand sites": true,
  });
});

Deno.test("onMisuse(): the warning has the message and the place of the creation", async () => {
  const { stdout } = await runChild("./misuse_warnings.ts", "print");

  const [message, heading, place] = stdout.split("\n");
  assert(message.startsWith(`The guard of "misuse_warnings.user" was still open`));
  assertEquals(heading, "The guard was created:");
  assert(place.includes("misuse_warnings.ts:"));
});
