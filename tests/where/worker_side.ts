/**
 * The other side of the probes of workers: it answers each message with whose state its listener
 * sees. It is bound always, which changes nothing while the caller's side is not.
 *
 * @module
 */
import { workerData } from "node:worker_threads";
import { bindPort, type Port } from "@thread-local/core/workers";
import { current } from "./probe.ts";

/** A worker of Node gets a port, because what it is to its caller has no `addEventListener`. */
const port: Port & { start?(): void } = workerData?.port ?? globalThis;

bindPort(port).addEventListener("message", () => port.postMessage(current()));
port.start?.();
