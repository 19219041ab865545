/** What a program printed, and how it ended. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a file of `examples/` as a user would: in a process of its own, its output in a pipe. */
export async function runExample(file: string, ...args: string[]): Promise<Outcome> {
  const url = new URL(`../../examples/${file}`, import.meta.url);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", url.href, ...args],
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
