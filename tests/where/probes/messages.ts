import { MessageChannel as NodeMessageChannel, Worker as NodeWorker } from "node:worker_threads";
import { boundCallback, boundPort } from "../help.ts";
import { dispatching, opening, type Probe, registering, relaying, type Seen } from "../probe.ts";

/** Where `worker_side.ts` is, or stands beside the bundle that Node runs. */
const WORKER_SIDE = new URL(
  import.meta.url.endsWith(".ts") ? "../worker_side.ts" : "./worker_side.mjs",
  import.meta.url,
);

/** Workers that answer each message. */
const ECHO = "onmessage = ({ data }) => postMessage(data)";
const NODE_ECHO =
  'const { parentPort } = require("node:worker_threads"); parentPort.on("message", (data) => parentPort.postMessage(data))';

/** What other isolates, and ports in this one, call. */
export const messages: readonly Probe[] = [
  {
    name: "`MessagePort` listener",
    help: boundPort,
    async run(look, help, looked) {
      const { port1, port2 } = opening(() => new MessageChannel());
      registering(() => help(port2).addEventListener("message", look));
      opening(() => port2.start());
      dispatching(() => help(port1).postMessage("message"));
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
  {
    name: "`Worker` listener, worker's side",
    help: boundPort,
    exists: "Worker" in globalThis,
    async run(look, help, looked) {
      const worker = opening(() => new Worker(WORKER_SIDE, { type: "module" }));
      worker.onmessage = ({ data }: MessageEvent<Seen>) => relaying(data, look);
      dispatching(() => help(worker).postMessage("message"));
      await looked;
      worker.terminate();
    },
  },
  {
    name: "`node:worker_threads` port, worker's side",
    help: boundPort,
    async run(look, help, looked) {
      const { port1, port2 } = new NodeMessageChannel();
      const worker = opening(() =>
        new NodeWorker(WORKER_SIDE, { workerData: { port: port2 }, transferList: [port2] })
      );
      port1.on("message", (seen: Seen) => relaying(seen, look));
      dispatching(() => help(port1).postMessage("message"));
      await looked;
      port1.close();
      await worker.terminate();
    },
  },
];
