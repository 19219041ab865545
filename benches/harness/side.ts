/** One side of a row, running in a process of its own. */
export class Side {
  readonly #process: Deno.ChildProcess;
  readonly #requests: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #answers: ReadableStreamDefaultReader<string>;
  readonly #name: string;
  #calls = 0;
  #amount = 0;

  constructor(layer: string, row: number, side: "ours" | "raw", milliseconds: number) {
    this.#name = `${layer} ${row} ${side}`;
    const child = new URL("./child.ts", import.meta.url).pathname;
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-q", "--v8-flags=--expose-gc", child, layer, `${row}`, side].concat(
        `${milliseconds}`,
      ),
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#requests = this.#process.stdin.getWriter();
    this.#answers = this.#process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Measures one slice. */
  async slice(): Promise<void> {
    await this.#requests.write(new Uint8Array(1));
    const { value } = await this.#answers.read();
    if (value === undefined) throw new Error(`Cannot measure "${this.#name}": its process ended`);
    const [calls, amount] = value.trim().split(" ").map(Number);
    this.#calls += calls;
    this.#amount += amount;
  }

  /** Ends the process and returns the mean of all its slices: nanoseconds a call, or the value. */
  async end(): Promise<number> {
    await this.#requests.close();
    await this.#process.status;
    return this.#amount / this.#calls;
  }
}
