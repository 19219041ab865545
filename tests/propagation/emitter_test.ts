import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { bindEmitter } from "@thread-local/core";
import { EventEmitter } from "node:events";
import { flows, starts } from "./_starts.ts";
import { emitter, recorder, target, user } from "./_emitters.ts";

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
