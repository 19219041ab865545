import { Worker as NodeWorker } from "node:worker_threads";
import { boundCallback } from "../help.ts";
import { dispatching, opening, type Probe, registering } from "../probe.ts";

/** Workers that answer each message. */
const ECHO = "onmessage = ({ data }) => postMessage(data)";
const NODE_ECHO =
  'const { parentPort } = require("node:worker_threads"); parentPort.on("message", (data) => parentPort.postMessage(data))';

/** What other isolates, and ports in this one, call. */
export const messages: readonly Probe[] = [
  {
    name: "`MessagePort` listener",
    help: boundCallback,
    async run(look, help, looked) {
      const { port1, port2 } = opening(() => new MessageChannel());
      registering(() => port2.addEventListener("message", help(look)));
      opening(() => port2.start());
      dispatching(() => port1.postMessage("message"));
      await looked;
      port1.close();
      port2.close();
    },
  },
  {
    name: "`BroadcastChannel` listener, same isolate",
    help: boundCallback,
    async run(look, help, looked) {
      const from = opening(() => new BroadcastChannel("where"));
      const to = opening(() => new BroadcastChannel("where"));
      registering(() => to.onmessage = help(look));
      dispatching(() => from.postMessage("message"));
      await looked;
      from.close();
      to.close();
    },
  },
  {
    name: "`Worker` listener, caller's side",
    help: boundCallback,
    exists: "Worker" in globalThis,
    async run(look, help, looked) {
      const url = `data:text/javascript,${encodeURIComponent(ECHO)}`;
      const worker = opening(() => new Worker(url, { type: "module" }));
      registering(() => worker.onmessage = help(look));
      dispatching(() => worker.postMessage("message"));
      await looked;
      worker.terminate();
    },
  },
  {
    name: "`node:worker_threads` listener, caller's side",
    help: boundCallback,
    async run(look, help, looked) {
      const worker = opening(() => new NodeWorker(NODE_ECHO, { eval: true }));
      registering(() => worker.on("message", help(look)));
      dispatching(() => worker.postMessage("message"));
      await looked;
      await worker.terminate();
    },
  },
];
