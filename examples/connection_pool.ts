/**
 * My pooled connections stay tied to the first request that used them: what do I do?
 *
 * A connection lives longer than the request that happens to open it: open it `detached`. Its read
 * loop calls everyone's callbacks, so each user of it binds the callback.
 */
import { bindThreadLocalState, detached, ThreadLocal } from "@thread-local/core";
import { createPool, type Pool } from "generic-pool";

const user = new ThreadLocal("connection_pool.user", { initial: "nobody" });

/** The other side: a TCP server that sends back what it gets. */
const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const echo = (async () => {
  for await (const { readable, writable } of server) readable.pipeTo(writable);
})();

/** A driver as they are: callbacks, called by the one loop that reads. */
class Connection {
  /** In whose state the loop runs. */
  owner = "";
  private callback: ((reply: string) => void) | undefined;
  private readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  private readonly reading: Promise<void>;

  private constructor(private readonly tcp: Deno.TcpConn) {
    this.writer = tcp.writable.getWriter();
    this.reading = this.readReplies();
  }

  static async open(): Promise<Connection> {
    return new Connection(await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port }));
  }

  query(text: string, callback: (reply: string) => void): void {
    this.callback = callback;
    this.writer.write(new TextEncoder().encode(`${text}\n`));
  }

  async close(): Promise<void> {
    await this.tcp.closeWrite();
    await this.reading;
  }

  private async readReplies(): Promise<void> {
    this.owner = user.get();
    let reply = "";
    for await (const text of this.tcp.readable.pipeThrough(new TextDecoderStream())) {
      reply += text;
      if (!reply.endsWith("\n")) continue;
      this.callback?.(reply.trimEnd());
      reply = "";
    }
  }
}

type Wrap = <F extends (reply: string) => void>(callback: F) => F;

/** Asks over a pooled connection; the callback reads the user. */
function ask(pool: Pool<Connection>, bind: Wrap): Promise<string> {
  return pool.use((connection) =>
    new Promise((resolve) => {
      connection.query("rows", bind((reply) => resolve(`${reply} of ${user.get()}`)));
    })
  );
}

const callers = Array.from({ length: 200 }, (_, index) => `user-${index}`);

/** How many of 200 callers at once get another's rows, and how many connections are someone's. */
async function countWrong(
  open: () => Promise<Connection>,
  bind: Wrap,
): Promise<{ rows: number; connections: number }> {
  const opened = new Set<Connection>();
  const pool = createPool({
    create: async () => {
      const connection = await open();
      opened.add(connection);
      return connection;
    },
    destroy: (connection) => connection.close(),
  }, { max: 8 });
  const replies = await Promise.all(callers.map((caller) => user.run(caller, ask, pool, bind)));
  await pool.drain();
  await pool.clear();
  return {
    rows: replies.filter((reply, index) => reply !== `rows of ${callers[index]}`).length,
    connections: [...opened].filter(({ owner }) => owner !== "nobody").length,
  };
}

const wrong = await countWrong(() => detached(Connection.open), bindThreadLocalState);
const wrongBare = await countWrong(Connection.open, (callback) => callback);
server.close();
await echo;

console.log(
  `connection_pool: ${wrong.rows} of ${callers.length} callbacks saw the wrong user, ` +
    `${wrong.connections} connections are tied to one`,
);
console.log(`  (${wrongBare.rows} and ${wrongBare.connections} without detached and bind)`);
Deno.exitCode = wrong.rows + wrong.connections === 0 && wrongBare.rows > 0 ? 0 : 1;
