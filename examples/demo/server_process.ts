/** The server, in a process of its own. It writes its log to the standard output. */
export class ServerProcess {
  private constructor(
    private readonly child: Deno.ChildProcess,
    /** Where it listens. */
    readonly url: string,
    /** What it logs, line by line, until it has stopped. */
    readonly lines: AsyncIterableIterator<string>,
  ) {}

  /** Starts it and waits until it listens. */
  static async start(...args: string[]): Promise<ServerProcess> {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", new URL("server.ts", import.meta.url).href, ...args],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const lines = split(child.stdout);
    const first = await lines.next();
    if (first.done) throw new Error(`Cannot use the server: it ended before it listened`);
    return new ServerProcess(child, `http://127.0.0.1:${JSON.parse(first.value).port}`, lines);
  }

  /** Lets it finish and end. */
  async stop(): Promise<void> {
    await this.child.stdin.close();
    await this.child.status;
  }
}

async function* split(bytes: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
