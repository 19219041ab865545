// A worker whose protocol is comlink's.
import { bindPort } from "@thread-local/core/workers";
import { expose } from "comlink";
import { user, visits } from "./_slots.ts";

const api = {
  async greet(greeting: string): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve));
    return `${greeting} ${user.get()} ${visits.get()}`;
  },
};

/** What the worker offers. */
export type Api = typeof api;

expose(api, bindPort(self as unknown as Worker));
