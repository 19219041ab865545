import PQueue from "p-queue";
import { connections } from "./bank.ts";
import { labels } from "./label_pool.ts";
import { log } from "./logger.ts";
import { bind } from "./slots.ts";

/** The work of one request, and the places where real work goes. None of them knows the user. */
export async function placeOrder(request: Request): Promise<void> {
  const body = await request.bytes();
  await crypto.subtle.digest("SHA-256", body);
  const { order } = JSON.parse(new TextDecoder().decode(body)) as { order: number };
  log("after an await", order);
  await reserve(order);
  await invoice(order);
  await pay(order);
  await pick(order);
  await label(order);
  await deliver(order);
}

/** A timer: each flow comes back in its own state, nothing to do. */
async function reserve(order: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  log("after a timer", order);
}

const printer = new PQueue({ concurrency: 10 });

/** A queue starts a job in the state of the job that made room for it, unless it is bound. */
async function invoice(order: number): Promise<void> {
  await printer.add(bind(async () => {
    await new Promise((resolve) => setTimeout(resolve));
    log("in a queued job", order);
  }));
}

/** A pooled connection serves many users; who awaits its reply is still in their own state. */
async function pay(order: number): Promise<void> {
  await connections.use(async (connection) => {
    await connection.ask(`order ${order}`);
    log("on a pooled connection", order);
  });
}

/** The body of a generator runs in the state of whoever asks for the next value. */
async function pick(order: number): Promise<void> {
  for await (const _ of walkToShelf(order)) break;
}

async function* walkToShelf(order: number): AsyncGenerator<number> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  log("in an async generator", order);
  yield order;
}

/** A worker knows nothing of this isolate: the state is sent along with the task. */
async function label(order: number): Promise<void> {
  await labels.execute(order, "drawLabel");
}

const waiting: (() => void)[] = [];

/** One van for everyone who waits: callbacks run in the driver's state, unless they are bound. */
async function deliver(order: number): Promise<void> {
  const arrived = Promise.withResolvers<void>();
  waiting.push(bind(() => {
    log("in a bound callback", order);
    arrived.resolve();
  }));
  if (waiting.length === 1) setTimeout(drive, 5);
  await arrived.promise;
}

function drive(): void {
  for (const ring of waiting.splice(0)) ring();
}
