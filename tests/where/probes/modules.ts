import { createServer } from "node:http";
import { detachedCall } from "../help.ts";
import { leaking, type Probe, registering } from "../probe.ts";
import { address, listen, stop } from "../loopback.ts";

/** Where the body of {@linkcode MODULE} finds what to call. */
const LOOK = Symbol.for("where.look");

const MODULE = `data:text/javascript,${
  encodeURIComponent('globalThis[Symbol.for("where.look")]?.()')
}`;

/** What `import()` calls, and what those see afterwards that have nothing to do with it. */
export const modules: readonly Probe[] = [
  {
    name: "`import()`: what follows its `await`",
    alone: true,
    async run(look) {
      await registering(async () => {
        await load();
        look();
      });
    },
  },
  {
    name: "`import()`, first load: the module's body",
    help: detachedCall,
    alone: true,
    async run(look, help) {
      Object.defineProperty(globalThis, LOOK, { value: look });
      await registering(help(load));
    },
  },
  {
    name: "`Deno.serve` handler after another flow's first load",
    help: detachedCall,
    alone: true,
    exists: "Deno" in globalThis,
    async run(look, help) {
      await leaking(help(load));
      await serve(look);
    },
  },
  {
    name: "`Deno.serve` handler after another flow's later `import()`",
    alone: true,
    exists: "Deno" in globalThis,
    async run(look) {
      await load();
      await leaking(load);
      await serve(look);
    },
  },
  {
    name: "`node:http` handler after another flow's first load",
    help: detachedCall,
    alone: true,
    async run(look, help) {
      await leaking(help(load));
      const server = createServer((_request, response) => {
        look();
        response.end();
      });
      await listen(server);
      await (await fetch(`http://${address(server)}/`)).text();
      await stop(server);
    },
  },
  {
    name: "`AbortSignal.timeout` listener after another flow's first load",
    help: detachedCall,
    alone: true,
    async run(look, help, looked) {
      await leaking(help(load));
      AbortSignal.timeout(1).addEventListener("abort", look);
      await looked;
    },
  },
];

/** Loads the module: for the first time in this process, or again. */
function load(): Promise<unknown> {
  return import(MODULE);
}

async function serve(look: () => void): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    look();
    return new Response();
  });
  await (await fetch(`http://127.0.0.1:${server.addr.port}/`)).text();
  await server.shutdown();
}
