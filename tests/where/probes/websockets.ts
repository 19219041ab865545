import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { boundCallback } from "../help.ts";
import { address, listen, stop } from "../loopback.ts";
import { dispatching, opening, type Probe, registering } from "../probe.ts";

/** What both ends of a WebSocket call. */
export const websockets: readonly Probe[] = [
  {
    name: "`WebSocket` client: `onmessage`",
    help: boundCallback,
    exists: "WebSocket" in globalThis,
    async run(look, help, looked) {
      const server = await listen(createEcho());
      const socket = opening(() => new WebSocket(`ws://${address(server)}/`));
      registering(() => socket.onmessage = help(look));
      await dispatching(() => exchange(socket, looked));
      await stop(server);
    },
  },
  {
    name: "`Deno.upgradeWebSocket`: `onmessage`",
    help: boundCallback,
    exists: "Deno" in globalThis,
    async run(look, help, looked) {
      const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
        const { socket, response } = opening(() => Deno.upgradeWebSocket(request));
        registering(() => socket.onmessage = help(look));
        return response;
      });
      const client = new WebSocket(`ws://127.0.0.1:${server.addr.port}/`);
      await dispatching(() => exchange(client, looked));
      await server.shutdown();
    },
  },
];

/** Sends a message when the socket is open, and closes it when the other end has been heard. */
async function exchange(socket: WebSocket, looked: Promise<void>): Promise<void> {
  await next(socket, "open");
  socket.send("message");
  await looked;
  socket.close();
  await next(socket, "close");
}

function next(socket: WebSocket, type: "open" | "close"): Promise<Event> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(type, resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
}

/** RFC 6455, sections 1.3 and 5.2: what to add to the key, and the frames `"ok"` and close. */
const ACCEPTS = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const OK = new Uint8Array([0x81, 2, 0x6f, 0x6b]);
const CLOSE = new Uint8Array([0x88, 0]);

/** A WebSocket server that runs on Node too: it answers one message, and then a close. */
function createEcho(): Server {
  return createServer().on("upgrade", (request, socket) => {
    const key = request.headers["sec-websocket-key"];
    const accept = createHash("sha1").update(`${key}${ACCEPTS}`).digest("base64");
    socket.once("data", () => {
      socket.write(OK);
      socket.once("data", () => socket.end(CLOSE));
    });
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
  });
}
