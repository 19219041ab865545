import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { fork } from "@thread-local/core";
import {
  addGlobalObserver,
  addThreadLocalObserver,
  type Observer,
  RecordFunction,
  recordFunction,
  type RecordFunctionOptions,
  type RecordScope,
  removeObserver,
} from "@thread-local/core/observers";
import { currentThread, Node } from "@thread-local/core/rank-local";
import { onMisuse } from "@thread-local/core/registry";
import { scoped } from "@thread-local/core/propagation";

/** Adds a global observer for as long as it is in scope. */
function observe<C>(observer: Observer<C>): Disposable {
  const handle = addGlobalObserver(observer);
  return { [Symbol.dispose]: () => void removeObserver(handle) };
}

Deno.test("recordFunction() returns what the function returns, observed or not", () => {
  const result = { r: 1 };

  const plain = recordFunction("op", {}, () => result);
  using _ = observe({ start: () => {} });
  const observed = recordFunction("op", {}, () => result);

  assertStrictEquals(plain, result);
  assertStrictEquals(observed, result);
});

Deno.test("recordFunction() rethrows what the function throws, after the end", () => {
  const events: string[] = [];
  using _ = observe({ start: () => events.push("start"), end: () => events.push("end") });

  assertThrows(
    () =>
      recordFunction("op", {}, () => {
        throw new RangeError("of the operator");
      }),
    RangeError,
    "of the operator",
  );

  assertEquals(events, ["start", "end"]);
});

Deno.test("recordFunction() ends the range of an async function when its promise is settled", async () => {
  const events: unknown[] = [];
  using _ = observe({
    end: ({ name, outputs }) => events.push([name, outputs]),
    needsOutputs: true,
  });
  const gate = Promise.withResolvers<number>();

  const fulfilled = recordFunction("a", {}, () => gate.promise);
  const rejected = recordFunction("b", {}, async () => {
    await gate.promise;
    throw new Error("of the operator");
  });
  assertEquals(events, []);
  gate.resolve(1);

  assertStrictEquals(fulfilled, gate.promise);
  assertEquals(await fulfilled, 1);
  assertEquals(await rejected.catch((error) => error.message), "of the operator");
  assertEquals(events, [["a", [1]], ["b", []]]);
});

Deno.test("recordFunction() does not call then() of what is no promise", () => {
  using _ = observe({ end: () => {} });
  let called = 0;
  const query = { then: () => called++ };

  const result = recordFunction("query", {}, () => query);

  assertStrictEquals(result, query);
  assertEquals(called, 0);
});

Deno.test("recordFunction() and RecordFunction reject bad arguments, observed or not", () => {
  const check = () => {
    assertThrows(() => recordFunction("op", {}, 1 as never), TypeError, "expected a function");
  };
  check();
  using _ = observe({ start: () => {} });
  check();

  assertThrows(() => new RecordFunction(1 as never), TypeError, "must be a string, got number");
  for (const scope of ["constructor", "", 1, null]) {
    assertThrows(() => new RecordFunction("op", { scope: scope as never }), TypeError, "scope");
  }
});

Deno.test("RecordFunction tells global observers, then thread-local ones, by ascending handle", () => {
  scoped(() => {
    const events: string[] = [];
    const observer = (name: string): Observer<void> => ({
      start: () => void events.push(`${name} start`),
      end: () => void events.push(`${name} end`),
    });
    addThreadLocalObserver(observer("local 1"));
    using _a = observe(observer("global 1"));
    addThreadLocalObserver(observer("local 2"));
    using _b = observe(observer("global 2"));

    recordFunction("op", {}, () => events.push("op"));

    const order = ["global 1", "global 2", "local 1", "local 2"];
    assertEquals(events, [
      ...order.map((name) => `${name} start`),
      "op",
      ...order.map((name) => `${name} end`),
    ]);
  });
});

Deno.test("RecordFunction hands what start returned to the end of the same range", () => {
  let next = 0;
  const seen: unknown[] = [];
  using _a = observe({ start: () => ++next, end: (_, context) => seen.push(["a", context]) });
  using _b = observe({ start: () => ++next, end: (_, context) => seen.push(["b", context]) });

  const outer = new RecordFunction("outer");
  const inner = new RecordFunction("inner");
  outer.end();
  inner.end();

  assertEquals(seen, [["a", 1], ["b", 2], ["a", 3], ["b", 4]]);
});

Deno.test("RecordFunction.end() ends once, however often it is called", () => {
  let ends = 0;
  using _ = observe({ end: () => ends++ });
  const range = new RecordFunction("op");
  assert(range.isActive);

  range.end();
  range.end();
  range[Symbol.dispose]();

  assertEquals(ends, 1);
  assertFalse(range.isActive);
});

Deno.test("RecordFunction tells an observer only of its scopes", () => {
  const seen: string[] = [];
  const scopes: RecordScope[] = ["backward-function", "user-scope"];
  using _a = observe({ start: ({ name }) => seen.push(name), scopes });
  using _b = observe({ start: () => seen.push("never"), scopes: [] });

  for (const scope of ["function", "backward-function", "kernel-function", "user-scope"] as const) {
    recordFunction(scope, { scope }, () => {});
  }
  recordFunction("a plain one", {}, () => {});

  assertEquals(seen, ["backward-function", "user-scope"]);
});

Deno.test("RecordFunction samples: 0 never, 1 always, 0.5 in between", () => {
  const counts = [0, 0, 0];
  using _0 = observe({ start: () => counts[0]++, sampling: 0 });
  using _1 = observe({ start: () => counts[1]++, sampling: 0.5 });
  using _2 = observe({ start: () => counts[2]++, sampling: 1 });

  for (let range = 0; range < 1_000; range++) recordFunction("op", {}, () => {});

  assertEquals([counts[0], counts[2]], [0, 1_000]);
  assert(counts[1] > 0 && counts[1] < 1_000, `${counts[1]}`);
});

Deno.test("RecordFunction that was not sampled has no end either", () => {
  let [starts, ends] = [0, 0];
  using _ = observe({ start: () => starts++, end: () => ends++, sampling: 0.5 });

  for (let range = 0; range < 100; range++) recordFunction("op", {}, () => {});

  assertEquals(ends, starts);
});

Deno.test("RecordFunction reads inputs, outputs and an id only if an observer needs them", () => {
  const asked: string[] = [];
  const options: RecordFunctionOptions = {
    inputs: () => {
      asked.push("inputs");
      return [1, 2];
    },
  };
  const run = () => {
    const range = new RecordFunction("op", options);
    range.setOutputs(() => {
      asked.push("outputs");
      return [3];
    });
    range.end();
    return [range.inputs, range.outputs, range.id > 0];
  };

  const nobody = run();
  using _plain = observe({ start: () => {} });
  const plain = run();
  using _needs = observe({ needsInputs: true, needsOutputs: true, needsIds: true });
  const needed = run();

  assertEquals([nobody, plain], [[[], [], false], [[], [], false]]);
  assertEquals(needed, [[1, 2], [3], true]);
  assertEquals(asked, ["inputs", "outputs"]);
});

Deno.test("RecordFunction gives ascending ids, and the number that was given", () => {
  using _ = observe({ needsIds: true });

  const [first, second] = [1, 2].map((sequenceNumber) =>
    new RecordFunction("op", { sequenceNumber })
  );

  assertEquals(second.id, first.id + 1);
  assertEquals([first.sequenceNumber, new RecordFunction("op").sequenceNumber], [1, undefined]);
});

Deno.test("RecordFunction ends for an observer that was removed in the middle of the range", () => {
  const events: string[] = [];
  const handle = addGlobalObserver({
    start: () => events.push("start"),
    end: () => events.push("end"),
  });

  const range = new RecordFunction("op");
  removeObserver(handle);
  range.end();
  recordFunction("after", {}, () => {});

  assertEquals(events, ["start", "end"]);
});

Deno.test("RecordFunction has no end for an observer that was added in the middle of the range", () => {
  const events: string[] = [];
  using _first = observe({ end: () => events.push("first") });
  const range = new RecordFunction("op");
  using _second = observe({ end: () => events.push("second") });

  range.end();

  assertEquals(events, ["first"]);
});

Deno.test("RecordFunction swallows and reports what an observer throws, and ends for it too", () => {
  const reports: string[] = [];
  using _reports = onMisuse(({ kind, message, stack }) => {
    assertEquals(kind, "observer-threw");
    assert(stack?.includes("record_function_test.ts"));
    reports.push(message);
  });
  const events: unknown[] = [];
  using _a = observe({
    start() {
      throw new Error("from start");
    },
    end: (_, context) => events.push(["a", context]),
  });
  using _b = observe({
    start: () => events.push("b"),
    end() {
      throw new Error("from end");
    },
  });
  using _c = observe({ end: () => events.push("c") });

  const result = recordFunction("op", {}, () => 1);

  assertEquals(result, 1);
  assertEquals(events, ["b", ["a", undefined], "c"]);
  assertEquals(reports.map((message) => message.includes("from start")), [true, false]);
  assert(reports[1].includes("from end"));
});

Deno.test("RecordFunction reports what an async observer rejects with", async () => {
  const reported = Promise.withResolvers<string>();
  using _reports = onMisuse(({ message }) => reported.resolve(message));
  using _ = observe({ end: () => Promise.reject(new Error("later")) as never });

  recordFunction("op", {}, () => {});

  assert((await reported.promise).includes("later"));
});

Deno.test("RecordFunction reports what the functions of inputs and outputs throw", () => {
  const kinds: string[] = [];
  using _reports = onMisuse(({ kind, message }) => kinds.push(`${kind} ${message.split('"')[0]}`));
  using _ = observe({ needsInputs: true, needsOutputs: true });
  const fail = () => {
    throw { toString: () => assert(false) };
  };

  const range = new RecordFunction("op", { inputs: fail });
  range.setOutputs(fail);
  range.end();

  assertEquals(kinds, [
    "observer-threw The function that gives the inputs of ",
    "observer-threw The function that gives the outputs of ",
  ]);
});

Deno.test("RecordFunction warns once a place on the console where nobody listens", () => {
  const { warn } = console;
  const warnings: string[] = [];
  console.warn = (message: string) => warnings.push(message);
  try {
    using _ = observe({
      start() {
        throw new Error("to the console");
      },
    });

    for (let range = 0; range < 3; range++) recordFunction("op", {}, () => {});
  } finally {
    console.warn = warn;
  }

  assertEquals(warnings.length, 1);
  assert(warnings[0].includes("to the console"));
  assertFalse(warnings[0].includes("guard"));
});

Deno.test("RecordFunction does not observe the operators of an observer", () => {
  const seen: string[] = [];
  using _ = observe({
    start({ name }) {
      seen.push(name);
      recordFunction("of the observer", {}, () => {});
    },
  });

  recordFunction("op", {}, () => {});
  recordFunction("next", {}, () => {});

  assertEquals(seen, ["op", "next"]);
});

Deno.test("RecordFunction keeps the thread of its start when it ends on another", async () => {
  const seen: bigint[][] = [];
  using _ = observe({
    end: (range) => seen.push([range.threadId, currentThread().id]),
  });

  const range = await fork(() => new RecordFunction("op"));
  await fork(() => range.end());

  const [[started, ended]] = seen;
  assert(started > 0n);
  assert(ended > started);
});

Deno.test("RecordFunction on different threads has different thread ids, 0 where nobody observes", async () => {
  assertEquals(new RecordFunction("op").threadId, 0n);
  using _ = observe({ start: () => {} });

  const ids = await Promise.all([1, 2, 3].map(() => fork(() => new RecordFunction("op").threadId)));

  assertEquals(new Set([...ids, new RecordFunction("op").threadId]).size, 4);
});

Deno.test("RecordFunction reports the forward thread in backward work, and 0 in forward work", async () => {
  using _ = observe({ start: () => {} });
  const begin = (name: string) => {
    const { threadId, forwardThreadId } = new RecordFunction(name);
    return { threadId, forwardThreadId };
  };
  const { id, forward, node } = await fork(() => ({
    id: currentThread().id,
    forward: begin("mul"),
    node: new Node("mul backward", begin),
  }));

  const backward = node.evaluate("mul backward");

  assertEquals(forward, { threadId: id, forwardThreadId: 0n });
  assertEquals(backward, { threadId: currentThread().id, forwardThreadId: id });
});

Deno.test("RecordFunction in a node that its own thread evaluates reports that thread", () => {
  using _ = observe({ start: () => {} });
  const node = new Node("mul backward", () => new RecordFunction("op").forwardThreadId);

  const forwardThreadId = node.evaluate();

  assertEquals(forwardThreadId, currentThread().id);
});

Deno.test("RecordFunction reports the forward thread in backward work that runs on that thread", async () => {
  using _ = observe({ start: () => {} });

  const [range, thread] = await fork(() =>
    [new Node("op", () => new RecordFunction("op")).evaluate(), currentThread()] as const
  );

  assertEquals([range.threadId, range.forwardThreadId], [thread.id, thread.id]);
});
