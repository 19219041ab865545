import { detached } from "@thread-local/core";
import { createPool } from "generic-pool";

/** The bank: a TCP server that confirms every line it gets. */
const bank = Deno.listen({ hostname: "127.0.0.1", port: 0 });

async function confirmAll(): Promise<void> {
  for await (const caller of bank) {
    caller.readable.pipeTo(caller.writable).catch(() => {}); // a caller that hung up
  }
}

/** A connection to the bank. Its read loop lives as long as it does, and resolves every call. */
class Connection {
  private readonly replies: ((reply: string) => void)[] = [];
  private readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  private readonly reading: Promise<void>;

  private constructor(private readonly tcp: Deno.TcpConn) {
    this.writer = tcp.writable.getWriter();
    this.reading = this.readReplies();
  }

  static async open(): Promise<Connection> {
    return new Connection(await Deno.connect({ hostname: "127.0.0.1", port: bank.addr.port }));
  }

  async ask(question: string): Promise<string> {
    const reply = new Promise<string>((resolve) => this.replies.push(resolve));
    await this.writer.write(new TextEncoder().encode(`${question}\n`));
    return await reply;
  }

  async close(): Promise<void> {
    await this.tcp.closeWrite();
    await this.reading;
  }

  private async readReplies(): Promise<void> {
    let rest = "";
    for await (const text of this.tcp.readable.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.replies.shift()!(line);
    }
  }
}

confirmAll();

/** A connection outlives the request that first needs it: it is opened with no user bound. */
export const connections = createPool({
  create: () => detached(Connection.open),
  destroy: (connection) => connection.close(),
}, { max: 20 });
