// What the platform does with the current frame, as far as the docs promise or warn of it.
import { assertEquals } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import process from "node:process";
import { ThreadLocal } from "@thread-local/core/registry";
import { nextTurn } from "../fixtures/everywhere.ts";

const user = new ThreadLocal("platform_test.user", { initial: "nobody" });

/** Registers a callback as "registrar", and has whatever calls it begun as "caller". */
async function seenBy(
  register: (callback: () => void) => void,
  call: () => void = () => {},
): Promise<string> {
  let heard = (_: string) => {};
  const seen = new Promise<string>((resolve) => heard = resolve);
  user.run("registrar", () => register(() => heard(user.get())));
  user.run("caller", call);
  return await seen;
}

const target = new EventTarget();
const emitter = new EventEmitter();
const controller = new AbortController();
let resolve = () => {};
const promise = new Promise<void>((r) => resolve = r);

const callbacks: Record<string, [
  expected: string,
  register: (callback: () => void) => void,
  call?: () => void,
]> = {
  "a timer": ["registrar", (callback) => setTimeout(callback)],
  "a microtask": ["registrar", (callback) => queueMicrotask(callback)],
  "process.nextTick": ["registrar", (callback) => process.nextTick(callback)],
  "a promise that another flow resolves": [
    "registrar",
    (callback) => promise.then(callback),
    () => resolve(),
  ],
  "an EventTarget": [
    "caller",
    (callback) => target.addEventListener("x", callback, { once: true }),
    () => target.dispatchEvent(new Event("x")),
  ],
  "an EventEmitter": [
    "caller",
    (callback) => emitter.once("x", callback),
    () => emitter.emit("x"),
  ],
  "AbortController.abort()": [
    "caller",
    (callback) => controller.signal.addEventListener("abort", callback),
    () => controller.abort(),
  ],
  "AbortSignal.timeout()": [
    "nobody",
    (callback) => {
      // A timeout alone does not keep the loop alive.
      const alive = setTimeout(() => {}, 10_000);
      AbortSignal.timeout(0).addEventListener("abort", () => {
        clearTimeout(alive);
        callback();
      });
    },
  ],
};

for (const [name, [expected, register, call]] of Object.entries(callbacks)) {
  const whose = expected === "nobody" ? "no state" : `the state of its ${expected}`;

  Deno.test(`A callback of ${name} sees ${whose}`, async () => {
    assertEquals(await seenBy(register, call), expected);
  });
}

Deno.test("A generator body sees the state of whoever calls next()", () => {
  const body = user.run("creator", () =>
    (function* () {
      while (true) yield user.get();
    })());

  const seen = ["ann", "bob"].map((name) => user.run(name, () => body.next().value));

  assertEquals(seen, ["ann", "bob"]);
});

Deno.test("ThreadLocal.run() undoes another library's enterWith, and leaves its run alone", async () => {
  const others = new AsyncLocalStorage<string>();

  const [entered, ran] = await new Promise<unknown[]>((done) =>
    setTimeout(() => {
      user.run("ann", () => others.enterWith("entered"));
      done([others.getStore(), user.run("ann", () => others.run("x", () => user.get()))]);
    })
  );

  assertEquals([entered, ran], [undefined, "ann"]);
});

Deno.test("AsyncLocalStorage.exit() covers only the synchronous part of an async function", async () => {
  const storage = new AsyncLocalStorage<string>();

  const seen = await storage.run("bound", () =>
    storage.exit(async () => {
      const first = storage.getStore();
      await nextTurn();
      return [first, storage.getStore()];
    }));

  // When this fails the platform is mended, and exit() could be used.
  assertEquals(seen, [undefined, "bound"]);
});
