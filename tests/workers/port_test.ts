import { ThreadLocal } from "@thread-local/core";
import { bindPort } from "@thread-local/core/workers";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import * as comlink from "comlink";
import { MessageChannel as NodeMessageChannel } from "node:worker_threads";
import { user, visits } from "./_slots.ts";
import type { Api } from "./_comlink_worker.ts";

/** Two ends, the second bound. */
function channel(): { here: MessagePort; there: MessagePort; close(): void } {
  const { port1, port2 } = new MessageChannel();
  return {
    here: port1,
    there: port2,
    close() {
      port1.close();
      port2.close();
    },
  };
}

/** The next message at this port, and the user it is heard as. */
function next(port: MessagePort): Promise<[unknown, string]> {
  return new Promise((resolve) => {
    port.addEventListener("message", ({ data }) => resolve([data, user.get()]), { once: true });
    port.start();
  });
}

Deno.test("bindPort() runs a listener in the state of the sender", async () => {
  const { here, there, close } = channel();
  const heard = next(bindPort(there));

  user.run("ann", () => bindPort(here).postMessage({ text: "hello" }));

  assertEquals(await heard, [{ text: "hello" }, "ann"]);
  close();
});

Deno.test("bindPort() runs what a listener starts in the state of the sender", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  const heard = new Promise<string>((resolve) => {
    bound.onmessage = async () => {
      await new Promise((resolve) => setTimeout(resolve));
      resolve(user.get());
    };
  });

  user.run("ann", () => bindPort(here).postMessage(1));

  assertEquals(await heard, "ann");
  close();
});

Deno.test("bindPort() hands over what an unbound peer sends untouched", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  for (const message of [null, "text", { data: 1 }, [1], new Map([[1, 2]])]) {
    const heard = next(bound);

    user.run("ann", () => here.postMessage(message));

    assertEquals(await heard, [message, "nobody"]);
  }
  close();
});

Deno.test("bindPort() gives the event the bound port, and the objects that were transferred", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  const heard = new Promise<MessageEvent>((resolve) => bound.onmessage = resolve);
  const extra = new MessageChannel();

  bindPort(here).postMessage(extra.port1, [extra.port1]);
  const event = await heard;

  assertStrictEquals(event.target, bound);
  assert(event instanceof MessageEvent);
  assertEquals(event.ports.length, 1);
  assertStrictEquals(event.data, event.ports[0]);
  event.ports[0].close();
  extra.port2.close();
  close();
});

Deno.test("bindPort() removes a listener by the function or object that was added", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  const heard: string[] = [];
  const listener = () => heard.push("function");
  const object = { handleEvent: () => heard.push("object") };
  bound.addEventListener("message", listener);
  bound.addEventListener("message", listener);
  bound.addEventListener("message", object);
  bindPort(here).postMessage(1);
  await next(bound);
  assertEquals(heard, ["function", "object"]);

  bound.removeEventListener("message", listener);
  bound.removeEventListener("message", object);
  bindPort(here).postMessage(2);
  await next(bound);

  assertEquals(heard, ["function", "object"]);
  close();
});

Deno.test("bindPort() keeps once, signal and this", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  const controller = new AbortController();
  const heard: unknown[] = [];
  bound.addEventListener("message", () => heard.push("once"), { once: true });
  bound.addEventListener("message", () => heard.push("signal"), { signal: controller.signal });
  bound.addEventListener("message", function (this: MessagePort) {
    heard.push(this === bound);
  });

  bindPort(here).postMessage(1);
  await next(bound);
  controller.abort();
  bindPort(here).postMessage(2);
  await next(bound);

  assertEquals(heard, ["once", "signal", true, true]);
  close();
});

Deno.test("bindPort() reads and replaces onmessage like the port's own", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  const heard: string[] = [];
  const first = () => void heard.push("first");
  bound.onmessage = first;
  assertStrictEquals(bound.onmessage, first);
  bound.onmessage = () => void heard.push("second");
  bindPort(here).postMessage(1);
  await next(bound);

  bound.onmessage = null;
  bindPort(here).postMessage(2);
  await next(bound);

  assertEquals([heard, bound.onmessage, there.onmessage], [["second"], null, null]);
  close();
});

Deno.test("bindPort() leaves the port itself unchanged", async () => {
  const { here, there, close } = channel();
  bindPort(here);
  const heard = next(there);

  here.postMessage("plain");

  assertEquals(await heard, ["plain", "nobody"]);
  close();
});

Deno.test("bindPort() throws at a value that cannot be sent, and sends nothing", async () => {
  const wrong = new ThreadLocal<unknown>("port_test.wrong", { wire: true });
  const { here, there, close } = channel();
  const heard = next(bindPort(there));
  const bound = bindPort(here);

  wrong.run(Symbol(), () => {
    assertThrows(() => bound.postMessage("lost"), TypeError, "port_test.wrong");
  });
  bound.postMessage("kept");

  assertEquals(await heard, ["kept", "nobody"]);
  close();
});

Deno.test("bindPort() takes no more state than its limits allow", async () => {
  const { here, there, close } = channel();
  const heard = next(bindPort(there, { limits: { maxEntries: 0 } }));
  const { warn } = console;
  console.warn = () => {};

  user.run("ann", () => bindPort(here).postMessage("hello"));

  assertEquals(await heard, ["hello", "nobody"]);
  console.warn = warn;
  close();
});

Deno.test("bindPort() survives a hostile envelope", async () => {
  const { here, there, close } = channel();
  const bound = bindPort(there);
  const { warn } = console;
  console.warn = () => {};
  for (
    const wire of [null, "{", {
      version: 1,
      bindings: [["workers_test.user", [() => 1].length]],
    }]
  ) {
    const heard = next(bound);

    here.postMessage({ "@thread-local/core": wire, data: "x" });

    assertEquals((await heard)[0], "x");
  }
  console.warn = warn;
  close();
});

Deno.test("bindPort() binds the on() and once() of node:worker_threads", async () => {
  const { port1, port2 } = new NodeMessageChannel();
  const bound = bindPort(port2 as unknown as MessagePort) as unknown as typeof port2;
  const heard: unknown[] = [];
  const listener = (message: unknown) => heard.push([message, user.get()]);
  bound.on("message", listener);
  const first = new Promise((resolve) => bound.once("message", resolve));
  user.run("ann", () => bindPort(port1 as unknown as MessagePort).postMessage("one"));
  assertEquals(await first, "one");

  bound.off("message", listener);
  const second = new Promise((resolve) => bound.once("message", resolve));
  bindPort(port1 as unknown as MessagePort).postMessage("two");

  assertEquals(await second, "two");
  assertEquals(heard, [["one", "ann"]]);
  port1.close();
  port2.close();
});

Deno.test("bindPort() refuses what is no port", () => {
  for (const wrong of [null, undefined, {}, { postMessage() {} }, 1]) {
    assertThrows(() => bindPort(wrong as unknown as MessagePort), TypeError, "Cannot bind a port");
  }
});

Deno.test("bindPort() carries the state through comlink, which knows nothing of it", async () => {
  const url = new URL("./_comlink_worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  const api = comlink.wrap<Api>(bindPort(worker) as comlink.Endpoint);

  const seen = await Promise.all([
    user.run("ann", () => api.greet("hello")),
    user.run("bob", () => visits.run(3, () => api.greet("hi"))),
    api.greet("hey"),
  ]);

  assertEquals(seen, ["hello ann 0", "hi bob 3", "hey nobody 0"]);
  await user.run("eve", async () => {
    assertEquals(await api.greet("again"), "again eve 0");
    assertEquals(user.get(), "eve");
  });
  worker.terminate();
});
