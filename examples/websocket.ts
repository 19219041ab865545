/**
 * My WebSocket's message handlers see no user: what do I do?
 *
 * A socket calls its handlers in the state in which the request was upgraded, wherever they were
 * added, and that is often before anyone knows the user. Bind the handlers where the user is bound.
 */
import { bindThreadLocalState, ThreadLocal } from "@thread-local/core";

const user = new ThreadLocal("websocket.user", { initial: "nobody" });

/** Answers a message for the current user, whom nobody names to it. */
async function answer(question: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve));
  return `${question} of ${user.get()}`;
}

type Wrap = <F extends (event: MessageEvent) => void>(handler: F) => F;

/** What is called for every connection, with its user bound. */
function serve(socket: WebSocket, bind: Wrap): void {
  socket.onmessage = bind(async ({ data }) => socket.send(await answer(data)));
}

const bound: Wrap = bindThreadLocalState;
const bare: Wrap = (handler) => handler;

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  const { pathname, searchParams } = new URL(request.url);
  user.run(searchParams.get("user")!, serve, socket, pathname === "/bound" ? bound : bare);
  return response;
});

const QUESTIONS = ["mail", "friends", "bills"];

/** A client that asks one question after the other. Returns how many answers are not its own. */
async function countWrong(path: string, from: string): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}${path}?user=${from}`);
  await next(socket, "open");
  let wrong = 0;
  for (const question of QUESTIONS) {
    socket.send(question);
    const { data } = await next(socket, "message") as MessageEvent;
    if (data !== `${question} of ${from}`) wrong++;
  }
  socket.close();
  await next(socket, "close");
  return wrong;
}

function next(socket: WebSocket, type: string): Promise<Event> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(type, resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
}

const callers = Array.from({ length: 200 }, (_, index) => `user-${index}`);

/** The answers that are wrong among those of 200 clients at once. */
async function countAllWrong(path: string): Promise<number> {
  const counts = await Promise.all(callers.map((caller) => countWrong(path, caller)));
  return counts.reduce((sum, count) => sum + count);
}

const wrong = await countAllWrong("/bound");
const wrongBare = await countAllWrong("/bare");
await server.shutdown();

const messages = callers.length * QUESTIONS.length;
console.log(`websocket: ${wrong} of ${messages} messages were answered for the wrong user`);
console.log(`  (${wrongBare} where the handler is not bound)`);
Deno.exitCode = wrong === 0 && wrongBare > 0 ? 0 : 1;
