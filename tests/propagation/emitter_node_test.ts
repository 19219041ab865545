import { assertEquals, assertThrows } from "@std/assert";
import { bindEmitter } from "@thread-local/core";
import { EventEmitter, once } from "node:events";
import { PassThrough } from "node:stream";
import { emitter, recorder, target, user } from "./_emitters.ts";

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
