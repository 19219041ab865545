import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { bindEmitter, ThreadLocal } from "@thread-local/core";
import { EventEmitter, once } from "node:events";
import { PassThrough } from "node:stream";
import { runChild } from "../fixtures/child.ts";
import { flows, starts } from "./_starts.ts";

const user = new ThreadLocal("emitter_test.user", { initial: "nobody" });

function recorder() {
  const seen: string[] = [];
  return { seen, listener: () => void seen.push(user.get()) };
}

function target() {
  const target = new EventTarget();
  const unbind = bindEmitter(target);
  return { target, unbind, dispatch: () => void target.dispatchEvent(new Event("done")) };
}

function emitter() {
  const emitter = new EventEmitter();
  const unbind = bindEmitter(emitter);
  return { emitter, unbind };
}

for (const [start, begin] of Object.entries(starts)) {
  for (const [flow, go] of Object.entries(flows)) {
    Deno.test(`bindEmitter() calls a target's listener where it was added, from ${start}, ${flow}`, async () => {
      const { target: jobs, dispatch } = target();
      const { seen, listener } = recorder();

      await begin(async () => {
        user.run("ann", () => jobs.addEventListener("done", listener));
        await user.run("bob", () => go(dispatch, () => user.set("sibling")));
      });

      assertEquals(seen, ["ann"]);
    });

    Deno.test(`bindEmitter() calls an emitter's listener where it was added, from ${start}, ${flow}`, async () => {
      const { emitter: jobs } = emitter();
      const { seen, listener } = recorder();

      await begin(async () => {
        user.run("ann", () => jobs.on("done", listener));
        await user.run("bob", () => go(() => jobs.emit("done"), () => user.set("sibling")));
      });

      assertEquals(seen, ["ann"]);
    });
  }
}

Deno.test("an unbound emitter calls its listeners where it is emitted", () => {
  const { seen, listener } = recorder();
  const jobs = new EventEmitter();
  user.run("ann", () => jobs.on("done", listener));

  user.run("bob", () => jobs.emit("done"));

  assertEquals(seen, ["bob"]);
});

Deno.test("a bound target's listener is removed by the original", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();
  jobs.addEventListener("done", listener);

  jobs.removeEventListener("done", listener);

  dispatch();
  assertEquals(seen, []);
});

Deno.test("a bound target removes a listener only for the type and phase that are named", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();
  jobs.addEventListener("done", listener);

  jobs.removeEventListener("failed", listener);
  jobs.removeEventListener("done", listener, true);
  jobs.removeEventListener("done", listener, { capture: true });
  dispatch();

  assertEquals(seen, ["nobody"]);
});

Deno.test("a bound target keeps a listener that is added twice once, in its first state", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();

  user.run("ann", () => jobs.addEventListener("done", listener));
  user.run("bob", () => jobs.addEventListener("done", listener, { capture: false }));
  dispatch();

  assertEquals(seen, ["ann"]);
});

Deno.test("a bound target keeps a listener for each phase, and removes each", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.addEventListener("done", listener));
  user.run("bob", () => jobs.addEventListener("done", listener, true));

  dispatch();
  jobs.removeEventListener("done", listener, { capture: true });
  dispatch();

  assertEquals(seen.toSorted(), ["ann", "ann", "bob"]);
});

Deno.test("a bound target keeps a listener for each type, in the state of each", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.addEventListener("done", listener));
  user.run("bob", () => jobs.addEventListener("failed", listener));

  dispatch();
  jobs.dispatchEvent(new Event("failed"));

  assertEquals(seen, ["ann", "bob"]);
});

Deno.test("a bound target's listener that is added again takes its state anew", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.addEventListener("done", listener));
  jobs.removeEventListener("done", listener);

  user.run("bob", () => jobs.addEventListener("done", listener));
  dispatch();

  assertEquals(seen, ["bob"]);
});

Deno.test("once works on a bound target, and again", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();

  user.run("ann", () => jobs.addEventListener("done", listener, { once: true }));
  dispatch();
  dispatch();
  user.run("bob", () => jobs.addEventListener("done", listener, { once: true }));
  dispatch();

  assertEquals(seen, ["ann", "bob"]);
});

Deno.test("signal works on a bound target, and the listener can be added again", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();
  const controller = new AbortController();
  user.run("ann", () => jobs.addEventListener("done", listener, { signal: controller.signal }));

  controller.abort();
  dispatch();
  user.run("bob", () => jobs.addEventListener("done", listener));
  dispatch();

  assertEquals(seen, ["bob"]);
});

Deno.test("a bound target does not add a listener whose signal is aborted already", () => {
  const { target: jobs, dispatch } = target();
  const { seen, listener } = recorder();

  jobs.addEventListener("done", listener, { signal: AbortSignal.abort() });
  dispatch();

  assertEquals(seen, []);
});

Deno.test("a bound target calls handleEvent as it is at the event, and removes its object", () => {
  const { target: jobs, dispatch } = target();
  const seen: unknown[] = [];
  const handler = {
    handleEvent() {
      seen.push("replaced");
    },
  };
  user.run("ann", () => jobs.addEventListener("done", handler));
  handler.handleEvent = function (this: unknown) {
    seen.push(user.get(), this === handler);
  };

  dispatch();
  jobs.removeEventListener("done", handler);
  dispatch();

  assertEquals(seen, ["ann", true]);
});

Deno.test("a bound target's listener gets the event, and the target as this", () => {
  const { target: jobs, dispatch } = target();
  const seen: unknown[] = [];
  jobs.addEventListener("done", function (this: unknown, event) {
    seen.push(event.type, this === jobs);
  });

  dispatch();

  assertEquals(seen, ["done", true]);
});

Deno.test("a bound target takes null for a listener, and refuses what it refused", () => {
  const { target: jobs } = target();

  jobs.addEventListener("done", null);
  jobs.removeEventListener("done", null);

  assertThrows(() => (jobs.addEventListener as () => void)(), TypeError);
});

Deno.test("a bound target lets go of listeners that a signal or once has removed", async () => {
  const { stdout, stderr } = await runChild("./emitter_memory.ts");

  assertEquals(stdout.trim(), JSON.stringify({ bySignal: 0, byOnce: 0 }), stderr);
});

Deno.test("a listener of a bound emitter is removed by the original, with off too", () => {
  const { emitter: jobs } = emitter();
  const { seen, listener } = recorder();
  jobs.on("done", listener);
  jobs.addListener("done", listener);

  jobs.removeListener("done", listener);
  jobs.off("done", listener);
  jobs.emit("done");

  assertEquals(seen, []);
});

Deno.test("a bound emitter keeps a listener that is added twice twice, each in its own state", () => {
  const { emitter: jobs } = emitter();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.on("done", listener));
  user.run("bob", () => jobs.on("done", listener));

  jobs.emit("done");
  jobs.removeListener("done", listener);
  jobs.emit("done");

  assertEquals(seen, ["ann", "bob", "ann"]);
});

Deno.test("once works on a bound emitter, and can be removed by the original", () => {
  const { emitter: jobs } = emitter();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.once("done", listener));

  jobs.emit("done");
  jobs.emit("done");
  jobs.once("done", listener);
  jobs.removeListener("done", listener);
  jobs.emit("done");

  assertEquals(seen, ["ann"]);
  assertEquals(jobs.listenerCount("done"), 0);
});

Deno.test("a once listener of a bound emitter is gone before it is called", () => {
  const { emitter: jobs } = emitter();
  let calls = 0;
  jobs.once("done", () => {
    calls++;
    jobs.emit("done");
  });

  jobs.emit("done");

  assertEquals(calls, 1);
});

Deno.test("a once listener of a bound emitter is called once where an earlier one emits again", () => {
  const { emitter: jobs } = emitter();
  const { seen, listener } = recorder();
  let again = true;
  jobs.on("done", () => {
    if (!again) return;
    again = false;
    jobs.emit("done");
  });
  jobs.once("done", listener);

  jobs.emit("done");

  assertEquals(seen, ["nobody"]);
});

Deno.test("a listener is bound once where an emitter's addListener() calls its on()", () => {
  class Jobs extends EventEmitter {
    override addListener(...args: Parameters<EventEmitter["on"]>): this {
      return this.on(...args);
    }
  }
  const jobs = new Jobs();
  bindEmitter(jobs);
  const { seen, listener } = recorder();

  jobs.addListener("done", listener);
  jobs.removeListener("done", listener);
  jobs.emit("done");

  assertEquals(seen, []);
});

Deno.test("a bound emitter prepends listeners, once and for good", () => {
  const { emitter: jobs } = emitter();
  const seen: string[] = [];
  const add = (name: string) => () => void seen.push(`${name} ${user.get()}`);
  user.run("ann", () => {
    jobs.on("done", add("third"));
    jobs.prependListener("done", add("second"));
    jobs.prependOnceListener("done", add("first"));
  });

  jobs.emit("done");
  jobs.emit("done");

  assertEquals(seen, ["first ann", "second ann", "third ann", "second ann", "third ann"]);
});

Deno.test("a bound emitter lists and counts its listeners by the originals", () => {
  const { emitter: jobs } = emitter();
  const { listener } = recorder();
  const other = () => {};

  jobs.on("done", listener).once("done", other);

  assertEquals(jobs.listeners("done"), [listener, other]);
  assertEquals(jobs.listenerCount("done"), 2);
});

Deno.test("a bound emitter tells of new and removed listeners by the originals", () => {
  const { emitter: jobs } = emitter();
  const { listener } = recorder();
  const told: unknown[] = [];
  jobs.on("newListener", (event, added) => event === "done" && told.push(added === listener));
  jobs.on(
    "removeListener",
    (event, removed) => event === "done" && told.push(removed === listener),
  );

  jobs.on("done", listener);
  jobs.removeListener("done", listener);

  assertEquals(told, [true, true]);
});

Deno.test("removeAllListeners works on a bound emitter", () => {
  const { emitter: jobs } = emitter();
  const { seen, listener } = recorder();
  jobs.on("done", listener).once("done", listener);

  jobs.removeAllListeners("done");
  jobs.emit("done");

  assertEquals(seen, []);
});

Deno.test("a bound emitter's listener gets the arguments, and the emitter as this", () => {
  const { emitter: jobs } = emitter();
  const seen: unknown[] = [];
  jobs.on("done", function (this: unknown, ...args: unknown[]) {
    seen.push(this === jobs, ...args);
  });

  jobs.emit("done", 1, "two");

  assertEquals(seen, [true, 1, "two"]);
});

Deno.test("a bound emitter refuses a listener that it refused", () => {
  const { emitter: jobs } = emitter();

  assertThrows(() => jobs.on("done", "text" as never), TypeError);
  assertThrows(() => jobs.once("done", undefined as never), TypeError);
});

Deno.test("events.once works on a bound emitter and a bound target", async () => {
  const { emitter: jobs } = emitter();
  const { target: others, dispatch } = target();

  const fromEmitter = once(jobs, "done");
  const fromTarget = once(others, "done");
  jobs.emit("done", "value");
  dispatch();

  assertEquals(await fromEmitter, ["value"]);
  assertEquals((await fromTarget)[0].type, "done");
  assertEquals(jobs.listenerCount("done"), 0);
});

Deno.test("a bound stream, whose on() does more than add, still flows, in the listener's state", async () => {
  const stream = new PassThrough();
  bindEmitter(stream);
  const seen: string[] = [];
  const ended = user.run("ann", () => {
    stream.on("data", (chunk) => seen.push(`${chunk} ${user.get()}`));
    return new Promise((resolve) => stream.on("end", resolve));
  });

  user.run("bob", () => stream.end("text"));
  await ended;

  assertEquals(seen, ["text ann"]);
});

Deno.test("undoing gives an emitter its own methods back, and leaves its listeners removable", () => {
  const { emitter: jobs, unbind } = emitter();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.on("done", listener));

  unbind[Symbol.dispose]();

  jobs.emit("done");
  jobs.removeListener("done", listener);
  user.run("bob", () => jobs.on("done", listener));
  jobs.emit("done");
  assertEquals(seen, ["ann", "nobody"]);
  assertFalse(Object.hasOwn(jobs, "on"));
});

Deno.test("undoing gives a target its own methods back when no bound listener is left", () => {
  const { target: jobs, unbind, dispatch } = target();
  const { seen, listener } = recorder();
  user.run("ann", () => jobs.addEventListener("done", listener));

  unbind[Symbol.dispose]();

  user.run("bob", () => jobs.addEventListener("done", listener));
  dispatch();
  jobs.removeEventListener("done", listener);
  dispatch();
  assertEquals(seen, ["ann"]);
  assertFalse(Object.hasOwn(jobs, "addEventListener"));
  assertFalse(Object.hasOwn(jobs, "removeEventListener"));
});

Deno.test("undoing does not wait for a listener that was never added", () => {
  const { target: jobs, unbind } = target();
  jobs.addEventListener("done", () => {}, { signal: AbortSignal.abort() });

  unbind[Symbol.dispose]();

  assertFalse(Object.hasOwn(jobs, "addEventListener"));
});

Deno.test("undoing stops the binding at once, while bound listeners are left", () => {
  const { target: jobs, unbind, dispatch } = target();
  const { seen, listener } = recorder();
  jobs.addEventListener("done", () => {});

  unbind[Symbol.dispose]();
  user.run("ann", () => jobs.addEventListener("done", listener));
  user.run("bob", dispatch);

  assertEquals(seen, ["bob"]);
});

Deno.test("undoing brings back the methods that an emitter had as its own", () => {
  const jobs = new EventEmitter();
  const own = jobs.on.bind(jobs);
  jobs.on = own;

  bindEmitter(jobs)[Symbol.dispose]();

  assertEquals(jobs.on, own);
});

Deno.test("undoing leaves a method alone that someone else has replaced since", () => {
  const { emitter: jobs, unbind } = emitter();
  const { seen, listener } = recorder();
  const ours = jobs.on;
  const theirs: typeof jobs.on = function (...args) {
    return Reflect.apply(ours, jobs, args);
  };
  jobs.on = theirs;

  unbind[Symbol.dispose]();
  user.run("ann", () => jobs.on("done", listener));
  jobs.emit("done");

  assertEquals(jobs.on, theirs);
  assertEquals(seen, ["nobody"]);
});

Deno.test("an emitter that was bound twice stays bound until both are undone, each once", () => {
  const jobs = new EventEmitter();
  const first = bindEmitter(jobs);
  const second = bindEmitter(jobs);

  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assert(Object.hasOwn(jobs, "on"));
  second[Symbol.dispose]();

  assertFalse(Object.hasOwn(jobs, "on"));
});

Deno.test("an emitter can be bound again after it was undone", () => {
  const { emitter: jobs, unbind } = emitter();
  const { seen, listener } = recorder();
  unbind[Symbol.dispose]();

  bindEmitter(jobs);
  user.run("ann", () => jobs.on("done", listener));
  jobs.emit("done");

  assertEquals(seen, ["ann"]);
});

Deno.test("bindEmitter() rejects what is not an emitter of either kind, and says what to do", () => {
  for (const bad of [undefined, null, "text", {}, { on() {}, off() {}, emit() {} }]) {
    assertThrows(
      () => bindEmitter(bad as never),
      TypeError,
      "Bind its listeners one by one with bindThreadLocalState",
    );
  }
});
