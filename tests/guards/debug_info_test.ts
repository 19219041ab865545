import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import type { IsExact } from "@std/testing/types";
import { saveThreadLocalState, scoped } from "@thread-local/core";
import {
  DebugInfoGuard,
  DebugInfoKind,
  onMisuse,
  ThreadLocalDebugInfo,
} from "@thread-local/core/guards";

const { TEST_INFO, TEST_INFO_2 } = DebugInfoKind;
const USER = new DebugInfoKind<string>("debug_info_test.user", { wire: true });
const WHEN = new DebugInfoKind<Date>("debug_info_test.when", {
  wire: {
    encode: (when) => when.toISOString(),
    decode: (wire) => {
      const when = new Date(wire as string);
      if (Number.isNaN(when.getTime())) throw new TypeError("no date");
      return when;
    },
  },
});
const SECRET = new DebugInfoKind<string>("debug_info_test.secret");

const { encode, decode } = ThreadLocalDebugInfo.slot.wire as {
  encode(chain: unknown): unknown;
  decode(wire: unknown): unknown;
};

function overTheWire(chain: unknown): unknown {
  return decode(JSON.parse(JSON.stringify(encode(chain))));
}

Deno.test("DebugInfoKind fixes the type of its infos", () => {
  using _ = new DebugInfoGuard(USER, "ann");

  const user = ThreadLocalDebugInfo.get(USER);

  const exact: [
    IsExact<typeof user, string | null>,
    IsExact<ReturnType<typeof ThreadLocalDebugInfo.peek<Date>>, Date>,
  ] = [true, true];
  assertEquals(exact, [true, true]);
  // @ts-expect-error: a user is a string.
  new DebugInfoGuard(USER, 1);
  // @ts-expect-error: and not a date.
  assertThrows(() => ThreadLocalDebugInfo.push(USER, undefined), TypeError);
});

Deno.test("DebugInfoKind has PyTorch's kinds", () => {
  const names = Object.values(DebugInfoKind).map((kind) => (kind as DebugInfoKind<object>).name);

  assertEquals(names, [
    "PRODUCER_INFO",
    "MOBILE_RUNTIME_INFO",
    "PROFILER_STATE",
    "INFERENCE_CONTEXT",
    "PARAM_COMMS_INFO",
    "TEST_INFO",
    "TEST_INFO_2",
  ]);
});

Deno.test("DebugInfoKind rejects a name that is taken, empty or no string, and a bad codec", () => {
  assertThrows(() => new DebugInfoKind("TEST_INFO"), TypeError, "there is one already");
  assertThrows(() => new DebugInfoKind(""), TypeError, "an empty one");
  assertThrows(() => new DebugInfoKind(Symbol() as never), TypeError, "symbol");
  assertThrows(
    () => new DebugInfoKind("debug_info_test.bad", { wire: {} as never }),
    TypeError,
    "wire must be",
  );
});

Deno.test("ThreadLocalDebugInfo.get() gives the nearest info of the kind, shared, or null", () => {
  const [outer, inner] = [{ outer: 1 }, { inner: 1 }];
  using _outer = new DebugInfoGuard(TEST_INFO, outer);
  {
    using _inner = new DebugInfoGuard(TEST_INFO, inner);
    assertStrictEquals(ThreadLocalDebugInfo.get(TEST_INFO), inner);
  }

  assertStrictEquals(ThreadLocalDebugInfo.get(TEST_INFO), outer);
  assertStrictEquals(ThreadLocalDebugInfo.get(TEST_INFO_2), null);
});

Deno.test("ThreadLocalDebugInfo: nested kinds are both visible", () => {
  using _user = new DebugInfoGuard(USER, "ann");
  using _test = new DebugInfoGuard(TEST_INFO, { test: 1 });

  const seen = [ThreadLocalDebugInfo.get(USER), ThreadLocalDebugInfo.get(TEST_INFO)];

  assertEquals(seen, ["ann", { test: 1 }]);
});

Deno.test("ThreadLocalDebugInfo.push() and pop() leave nothing bound", () => {
  scoped(() => {
    const before = saveThreadLocalState().size;
    ThreadLocalDebugInfo.push(USER, "ann");
    ThreadLocalDebugInfo.push(TEST_INFO, { test: 1 });

    assertEquals(ThreadLocalDebugInfo.pop(TEST_INFO), { test: 1 });
    assertEquals(ThreadLocalDebugInfo.peek(USER), "ann");
    assertEquals(ThreadLocalDebugInfo.pop(USER), "ann");

    assertEquals(saveThreadLocalState().size, before);
  });
});

Deno.test("ThreadLocalDebugInfo.pop() and peek() require the kind on top", () => {
  using _user = new DebugInfoGuard(USER, "ann");
  using _test = new DebugInfoGuard(TEST_INFO, { test: 1 });

  for (const call of [ThreadLocalDebugInfo.pop, ThreadLocalDebugInfo.peek]) {
    assertThrows(() => call(USER), TypeError, `on top is one of kind "TEST_INFO"`);
  }

  assertEquals(ThreadLocalDebugInfo.get(USER), "ann");
});

Deno.test("ThreadLocalDebugInfo.pop() and peek() throw where there is none", () => {
  for (const call of [ThreadLocalDebugInfo.pop, ThreadLocalDebugInfo.peek]) {
    assertThrows(() => call(USER), TypeError, "there is none");
  }
});

Deno.test("DebugInfoGuard with null does nothing, and needs no await", async () => {
  const reports: unknown[] = [];
  using _reports = onMisuse((report) => reports.push(report));
  const before = saveThreadLocalState().size;

  await (async () => {
    using _ = new DebugInfoGuard(USER, null);
    assertEquals(saveThreadLocalState().size, before);
    await Promise.resolve();
  })();

  assertEquals(DebugInfoGuard.run(USER, null, () => ThreadLocalDebugInfo.get(USER)), null);
  assertEquals(reports, []);
});

Deno.test("DebugInfoGuard rejects undefined", async () => {
  assertThrows(() => new DebugInfoGuard(USER, undefined as never), TypeError, "got undefined");
  await assertRejects(() => DebugInfoGuard.enter(USER, undefined as never), TypeError);
});

Deno.test("DebugInfoGuard restores the chain as it was, whatever was pushed or popped inside", () => {
  using _outer = new DebugInfoGuard(USER, "ann");
  {
    using _ = new DebugInfoGuard(TEST_INFO, { test: 1 });
    ThreadLocalDebugInfo.pop(TEST_INFO);
    ThreadLocalDebugInfo.pop(USER);
    ThreadLocalDebugInfo.push(TEST_INFO_2, { left: "open" });
  }

  assertEquals(ThreadLocalDebugInfo.peek(USER), "ann");
});

Deno.test("ThreadLocalDebugInfo sends over the wire the infos whose kind has a wire form", () => {
  const when = new Date(0);
  const chain = DebugInfoGuard.run(
    USER,
    "ann",
    () =>
      DebugInfoGuard.run(
        SECRET,
        "password",
        () => DebugInfoGuard.run(WHEN, when, () => ThreadLocalDebugInfo.slot.get()),
      ),
  );

  const arrived = overTheWire(chain);

  ThreadLocalDebugInfo.slot.run(arrived, () => {
    assertEquals(ThreadLocalDebugInfo.peek(WHEN), when);
    assertEquals(ThreadLocalDebugInfo.get(USER), "ann");
    assertEquals(ThreadLocalDebugInfo.get(SECRET), null);
  });
});

Deno.test("ThreadLocalDebugInfo keeps infos of kinds made later, and passes them on", () => {
  const arrived = decode([["debug_info_test.later", "1970-01-01"], [
    "debug_info_test.user",
    "ann",
  ]]);

  const passedOn = overTheWire(arrived);
  const LATER = new DebugInfoKind<number>("debug_info_test.later", {
    wire: { encode: String, decode: (wire) => Date.parse(wire as string) },
  });

  ThreadLocalDebugInfo.slot.run(passedOn, () => {
    assertEquals(ThreadLocalDebugInfo.get(LATER), 0);
    assertEquals(ThreadLocalDebugInfo.peek(USER), "ann");
  });
});

Deno.test("ThreadLocalDebugInfo takes no info over the wire whose kind is made without wire", () => {
  const arrived = decode([["debug_info_test.secret", "forged"], ["debug_info_test.user", "ann"]]);

  ThreadLocalDebugInfo.slot.run(arrived, () => {
    assertEquals(ThreadLocalDebugInfo.get(SECRET), null);
    assertEquals(ThreadLocalDebugInfo.get(USER), "ann");
  });
});

Deno.test("ThreadLocalDebugInfo takes no info for a kind that is made later, without wire", () => {
  const arrived = decode([["debug_info_test.later secret", "forged"]]);
  const LATER = new DebugInfoKind<string>("debug_info_test.later secret");

  ThreadLocalDebugInfo.slot.run(arrived, () => {
    assertEquals(ThreadLocalDebugInfo.get(LATER), null);
    assertThrows(() => ThreadLocalDebugInfo.peek(LATER), TypeError, "without wire");
  });
});

Deno.test("ThreadLocalDebugInfo.pop() changes nothing where the info's decode throws", () => {
  const arrived = decode([["debug_info_test.lying pop", "x"]]);
  const LYING = new DebugInfoKind<number>("debug_info_test.lying pop", {
    wire: {
      encode: String,
      decode: () => {
        throw new TypeError("lying");
      },
    },
  });

  ThreadLocalDebugInfo.slot.run(arrived, () => {
    assertThrows(() => ThreadLocalDebugInfo.pop(LYING), TypeError, "lying");
    assertStrictEquals(ThreadLocalDebugInfo.slot.get(), arrived);
  });
});

Deno.test("ThreadLocalDebugInfo.get() takes an info whose decode throws later for none", () => {
  const arrived = decode([["debug_info_test.lying", "x"]]);
  const LYING = new DebugInfoKind<number>("debug_info_test.lying", {
    wire: {
      encode: String,
      decode: () => {
        throw new Error("lying");
      },
    },
  });

  const found = ThreadLocalDebugInfo.slot.run(arrived, () => ThreadLocalDebugInfo.get(LYING));

  assertEquals(found, null);
});

Deno.test("ThreadLocalDebugInfo rejects what is no chain on the wire", () => {
  for (
    const bad of [null, 1, {}, [1], [[1, "info"]], [["kind", null]], [[
      "debug_info_test.when",
      "x",
    ]]]
  ) {
    assertThrows(() => decode(bad));
  }
});
