import { EventEmitter } from "node:events";
import { boundCallback, boundEmitter } from "../help.ts";
import { dispatching, opening, type Probe, registering, turn } from "../probe.ts";

/** What is called when something happens to an object. */
export const events: readonly Probe[] = [
  {
    name: "`EventTarget` listener",
    help: boundEmitter,
    run(look, help) {
      const target = opening(() => help(new EventTarget()));
      registering(() => target.addEventListener("event", look));
      dispatching(() => target.dispatchEvent(new Event("event")));
    },
  },
  {
    name: "`EventEmitter` listener",
    help: boundEmitter,
    run(look, help) {
      const emitter = opening(() => help(new EventEmitter()));
      registering(() => emitter.on("event", look));
      dispatching(() => emitter.emit("event"));
    },
  },
  {
    name: "`AbortSignal` listener, `abort()`",
    help: boundEmitter,
    run(look, help) {
      const controller = opening(() => new AbortController());
      const signal = help(controller.signal);
      registering(() => signal.addEventListener("abort", look));
      dispatching(() => controller.abort());
    },
  },
  {
    name: "`AbortSignal.timeout` listener",
    help: boundEmitter,
    async run(look, help, looked) {
      const signal = opening(() => help(AbortSignal.timeout(1)));
      registering(() => signal.addEventListener("abort", look));
      await looked;
    },
  },
  {
    name: "`FinalizationRegistry` callback",
    help: boundCallback,
    alone: true,
    async run(look, help, looked) {
      let called = false;
      looked.then(() => called = true);
      const finalizers = registering(() => new FinalizationRegistry(help(look)));
      opening(() => finalizers.register({}, undefined));
      while (!called) {
        // Asynchronous: no object is kept by what the stack happens to hold.
        await dispatching(collect);
        await turn();
      }
    },
  },
];

/** What `--expose-gc` gives. */
async function collect(): Promise<void> {
  const { gc } = globalThis as { gc?(options: { execution: "async" }): Promise<void> };
  if (gc === undefined) throw new Error("Cannot collect garbage: start with --expose-gc");
  await gc({ execution: "async" });
}
