import { assertEquals } from "@std/assert";
import { bindEmitter, bindThreadLocalState, detached, ThreadLocal } from "@thread-local/core";
import { EventEmitter } from "node:events";
import PgPool from "pg-pool";

const user = new ThreadLocal("pool_test.user", { initial: "nobody" });

type Connected = (error: Error | undefined, client: Client, release: () => void) => void;

interface Pool extends EventEmitter {
  connect(connected: Connected): void;
  end(): Promise<void>;
}

const Pool = PgPool as unknown as new (options: object) => Pool;

/** A connection without its network: it tells from the state of where it was opened. */
class Client extends EventEmitter {
  connect(connected: () => void): void {
    queueMicrotask(connected);
  }

  end(ended: () => void): void {
    queueMicrotask(ended);
  }

  ref(): void {}

  unref(): void {}
}

function open(): Pool {
  return new Pool({ Client, max: 1, idleTimeoutMillis: 0 });
}

/** The state in which the callback of each user's `connect` is called. */
async function statesOf(
  pool: Pool,
  users: readonly string[],
  bind: (connected: Connected) => Connected,
): Promise<string[]> {
  const states = await Promise.all(
    users.map((name) =>
      user.run(name, () =>
        new Promise<string>((resolve) => {
          pool.connect(bind((_error, _client, release) => {
            resolve(user.get());
            release();
          }));
        }))
    ),
  );
  await pool.end();
  return states;
}

const users = ["ann", "bob", "cay"];

Deno.test("a pool calls an unbound callback in the state of who released the connection", async () => {
  const states = await statesOf(open(), users, (connected) => connected);

  assertEquals(states, ["ann", "ann", "ann"]);
});

Deno.test("bindThreadLocalState() keeps a pool's callback in the state of who waits for it", async () => {
  const states = await statesOf(open(), users, bindThreadLocalState);

  assertEquals(states, users);
});

Deno.test("detached() opens a pool whose listeners belong to no requester", async () => {
  const seen: string[] = [];
  const pool = user.run("ann", () =>
    detached(() => {
      const pool = open();
      bindEmitter(pool);
      pool.on("acquire", () => seen.push(user.get()));
      return pool;
    }));

  await statesOf(pool, users, bindThreadLocalState);

  assertEquals(seen, ["nobody", "nobody", "nobody"]);
});
