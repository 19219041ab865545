import process from "node:process";
import { boundCallback } from "../help.ts";
import { deferred, dispatching, opening, type Probe, registering } from "../probe.ts";

/** What promises and the queues of their turn call. */
export const promises: readonly Probe[] = [
  {
    name: "`await`",
    async run(look) {
      const { promise, resolve } = opening(deferred);
      const waiting = registering(async () => {
        await promise;
        look();
      });
      dispatching(resolve);
      await waiting;
    },
  },
  {
    name: "`promise.then(…)`",
    async run(look) {
      const { promise, resolve } = opening(deferred);
      const reacted = registering(() => promise.then(look));
      dispatching(resolve);
      await reacted;
    },
  },
  {
    name: "`then()` of a thenable that is awaited",
    async run(look) {
      const thenable = {
        then(resolve: () => void) {
          look();
          resolve();
        },
      };
      await registering(async () => await thenable);
    },
  },
  {
    name: "`queueMicrotask`",
    run: (look) => registering(() => queueMicrotask(look)),
  },
  {
    name: "`process.nextTick`",
    run: (look) => registering(() => process.nextTick(look)),
  },
  {
    name: "`unhandledrejection`",
    help: boundCallback,
    exists: "addEventListener" in globalThis,
    async run(look, help, looked) {
      const listener = registering(() =>
        help((event: Event): void => {
          event.preventDefault();
          look();
        })
      );
      registering(() => addEventListener("unhandledrejection", listener));
      reject();
      await looked;
      removeEventListener("unhandledrejection", listener);
    },
  },
  {
    name: '`process.on("unhandledRejection")`',
    help: boundCallback,
    async run(look, help, looked) {
      const listener = registering(() => help(look));
      registering(() => process.on("unhandledRejection", listener));
      reject();
      await looked;
      process.removeListener("unhandledRejection", listener);
    },
  },
];

/** Rejects a promise that nobody handles. */
function reject(): void {
  let reject!: (reason: Error) => void;
  opening(() => new Promise((_, settle) => reject = settle));
  dispatching(() => reject(new Error("A rejection that is expected")));
}
