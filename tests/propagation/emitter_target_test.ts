import { assertEquals, assertThrows } from "@std/assert";
import { runChild } from "../fixtures/child.ts";
import { recorder, target, user } from "./_emitters.ts";

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
