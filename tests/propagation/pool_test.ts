import { assertEquals } from "@std/assert";
import { bindThreadLocalState, detached, ThreadLocal } from "@thread-local/core";
import { EventEmitter } from "node:events";

const user = new ThreadLocal("pool_test.user", { initial: "nobody" });

/** What a pool of connections does to state: sockets answer, and call, where they were opened. */
class Connection extends EventEmitter {
  readonly #socket = new MessageChannel();
  #answered: ((row: string) => void) | undefined;

  constructor() {
    super();
    // Registered once, by the first requester, for all who come after.
    this.#socket.port1.onmessage = ({ data }) => {
      this.emit("row", data);
      this.#answered?.(data);
    };
    this.#socket.port2.onmessage = ({ data }) => this.#socket.port2.postMessage(data);
  }

  query(text: string, answered: (row: string) => void): void {
    this.#answered = answered;
    this.#socket.port1.postMessage(text);
  }

  end(): void {
    this.#socket.port1.close();
    this.#socket.port2.close();
  }
}

class Pool {
  #idle: Connection | undefined;

  query(text: string, answered: (row: string) => void): void {
    this.#idle ??= new Connection();
    this.#idle.query(text, answered);
  }

  end(): void {
    this.#idle?.end();
  }
}

Deno.test("bindThreadLocalState() keeps a pooled connection's callback with its own requester", async () => {
  const pool = new Pool();
  const ask = (name: string) =>
    user.run(name, () =>
      new Promise<string>((resolve) => {
        pool.query("select", bindThreadLocalState(() => resolve(user.get())));
      }));

  const seen = [await ask("ann"), await ask("bob")];

  pool.end();
  assertEquals(seen, ["ann", "bob"]);
});

Deno.test("detached() keeps a pool's own listeners from its first requester", async () => {
  const seen: string[] = [];
  const open = () => {
    const connection = new Connection();
    connection.on("row", () => seen.push(user.get()));
    return connection;
  };
  const ask = (connection: Connection) =>
    new Promise<string>((resolve) => connection.query("select", resolve));

  const connection = await user.run("ann", async () => {
    const connection = detached(open);
    await ask(connection);
    return connection;
  });
  await user.run("bob", () => ask(connection));

  connection.end();
  assertEquals(seen, ["nobody", "nobody"]);
});
