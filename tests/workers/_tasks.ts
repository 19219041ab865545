// The worker of the tests: tasks that read, bind, fail and end their worker.
import { registry, saveThreadLocalState, ThreadLocal } from "@thread-local/core";
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import { currentFrame, THREAD } from "../../registry/frame.ts";
import { rootThread, type Thread } from "../../registry/thread.ts";
import { tags, user, visits } from "./_slots.ts";

/** What a user's own class of errors may look like. */
class QuotaError extends RangeError {
  override readonly name = "QuotaError";
  readonly code = "E_QUOTA";
  readonly left = 3;
}

/** What a task is asked to do. */
export interface Request {
  readonly text?: string;
  readonly buffer?: ArrayBuffer;
  readonly port?: MessagePort;
  readonly begin?: number;
  readonly end?: number;
}

function seen(): string {
  return `${user.get()}/${visits.isBound() ? visits.get() : "unbound"}`;
}

threadLocalWorker<Request, unknown>({
  read: seen,
  async readLater() {
    await new Promise((resolve) => setTimeout(resolve));
    return seen();
  },
  // Leaves behind what it can: a binding, an open guard, a timer.
  async litter() {
    user.set("litter");
    visits.set(-1);
    const guard = visits.with(-2);
    guard[Symbol.dispose];
    await Promise.resolve();
    user.set("litter");
    return seen();
  },
  litterAndThrow() {
    user.set("litter");
    throw new TypeError("thrown with litter");
  },
  // Changes the value itself, and says what it was.
  addTag() {
    const before = tags.get().join();
    tags.get().push("added");
    return before;
  },
  size: () => saveThreadLocalState().size,
  keys: () => [...registry.keys()],
  post: () => (self as unknown as Worker).postMessage("posted"),
  passOn: () => saveThreadLocalState().toWire(),
  thread() {
    const thread = currentFrame()[THREAD] as Thread;
    return { id: thread.id, parentId: thread.parentId, name: thread.name, root: rootThread.id };
  },
  byteLength: (request) => request?.buffer?.byteLength,
  data: (request) => request,
  throwBuiltIn() {
    throw new RangeError("too far", { cause: new TypeError("inner") });
  },
  throwOwn() {
    throw new QuotaError("no room");
  },
  throwMany() {
    throw new AggregateError([new SyntaxError("one"), "two"], "several");
  },
  throwDom() {
    throw new DOMException("late", "TimeoutError");
  },
  throwText() {
    throw "plain text";
  },
  throwFunction() {
    throw () => 1;
  },
  throwWithPort() {
    throw new URIError("with a port in hand");
  },
  returnFunction: () => () => 1,
  close: () => self.close(),
  exit: () => Deno.exit(1),
  escape() {
    setTimeout(() => {
      throw new EvalError("escaped");
    });
    return new Promise(() => {});
  },
  // Goes on when it is told so over its port.
  wait: (request) =>
    new Promise<string>((resolve) => {
      const port = request!.port!;
      port.onmessage = () => {
        port.close();
        resolve(seen());
      };
      port.postMessage("started");
    }),
  never: () => new Promise(() => {}),
  spin() {
    for (;;);
  },
  chunk: (request) => [request?.begin, request?.end, seen()],
  failAt: (request) => {
    if (request?.begin === 2) throw new RangeError(`chunk ${request.begin}`);
    return request?.begin;
  },
});

/** Declared in the worker only, after its first tasks may have come. */
export const late = new ThreadLocal("workers_test.late", { initial: 0, wire: true });
