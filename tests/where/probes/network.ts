import { readFile } from "node:fs";
import { createServer, request } from "node:http";
import { connect, createServer as createNetServer, type Socket } from "node:net";
import { boundCallback, boundEmitter } from "../help.ts";
import { address, listen, portOf, stop } from "../loopback.ts";
import { dispatching, opening, type Probe, registering } from "../probe.ts";

/** What files, sockets and servers call. */
export const network: readonly Probe[] = [
  {
    name: "`node:fs` callback",
    run: (look) => registering(() => readFile(new URL(import.meta.url), look)),
  },
  {
    name: "`fetch(…).then(…)`",
    async run(look) {
      const server = await listen(createServer((_request, response) => response.end()));
      const answered = opening(() => fetch(`http://${address(server)}/`));
      await registering(() =>
        answered.then((response) => {
          look();
          return response.text();
        })
      );
      await stop(server);
    },
  },
  {
    name: "`Deno.serve` handler",
    help: boundCallback,
    exists: "Deno" in globalThis,
    async run(look, help) {
      const handle = (): Response => {
        look();
        return new Response();
      };
      const server = registering(() =>
        Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, help(handle))
      );
      await dispatching(async () => {
        await (await fetch(`http://127.0.0.1:${server.addr.port}/`)).text();
      });
      await server.shutdown();
    },
  },
  {
    name: "`node:http` request handler",
    help: boundEmitter,
    async run(look, help) {
      const server = help(createServer());
      registering(() =>
        server.on("request", (_request, response) => {
          look();
          response.end();
        })
      );
      await opening(() => listen(server));
      await dispatching(async () => {
        await (await fetch(`http://${address(server)}/`)).text();
      });
      await stop(server);
    },
  },
  {
    name: '`node:http` client: `on("response")`',
    help: boundEmitter,
    async run(look, help, looked) {
      const server = await listen(createServer((_request, response) => response.end()));
      const sent = opening(() => help(request(`http://${address(server)}/`, { agent: false })));
      registering(() =>
        sent.on("response", (response) => {
          look();
          response.resume();
        })
      );
      dispatching(() => sent.end());
      await looked;
      await stop(server);
    },
  },
  {
    name: '`node:net` server: `on("connection")`',
    help: boundEmitter,
    async run(look, help) {
      const server = help(createNetServer());
      registering(() =>
        server.on("connection", (socket: Socket) => {
          look();
          socket.end();
        })
      );
      await opening(() => listen(server));
      await dispatching(() => conclude(connect(portOf(server), "127.0.0.1").resume()));
      await stop(server);
    },
  },
  {
    name: '`node:net` client: `on("data")`',
    help: boundEmitter,
    async run(look, help, looked) {
      const server = await listen(createNetServer((socket) => socket.pipe(socket)));
      const socket = opening(() => help(connect(portOf(server), "127.0.0.1")));
      registering(() => socket.on("data", look));
      await new Promise<void>((resolve) => socket.once("connect", resolve));
      dispatching(() => socket.write("data"));
      await looked;
      socket.end();
      await conclude(socket);
      await stop(server);
    },
  },
];

/** Waits until a socket is closed. */
function conclude(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on("close", () => resolve());
    socket.on("error", reject);
  });
}
