import { ROOT } from "./project.ts";

/** One thing that must hold before a change goes in. */
export interface Gate {
  readonly name: string;
  /** Commands that each exit with status 0 if it holds; `deno` stands for the running one. */
  readonly commands: readonly (readonly string[])[];
  /** The last of them counts what it checks, and its counts are the gate's. */
  readonly counts?: boolean;
  /** What they print is worth reading also where the gate holds. */
  readonly shown?: boolean;
  /** Why it cannot be tried on this machine. */
  readonly ignored?: string;
}

/** How many checks held and how many did not. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** A command that hangs is stopped after this long, in milliseconds. */
const LIMIT = 15 * 60_000;

/** Tries a gate, prints its line and, if it does not hold, what its command said. */
export async function tryGate(gate: Gate): Promise<Counts> {
  const begun = performance.now();
  await write(gate.name.padEnd(28));
  if (gate.ignored !== undefined) {
    await write(`ignored  ${gate.ignored}\n`);
    return { passed: 0, failed: 0 };
  }
  let said = "";
  let success = true;
  for (const command of gate.commands) {
    const run = await runCommand(command);
    said = run.said;
    success = run.success;
    if (!success) break;
  }
  const counts = countsOf(gate, success, said);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1).padStart(6);
  const counted = gate.counts ? `  ${closingLine(counts)}` : "";
  await write(`${counts.failed === 0 ? "passed " : "FAILED "} ${seconds} s${counted}\n`);
  if (counts.failed > 0 || gate.shown) await write(indent(said));
  return counts;
}

/** What `.ci/run` and the gates end with. */
export function closingLine({ passed, failed }: Counts): string {
  return `${passed} passed, ${failed} failed`;
}

function countsOf(gate: Gate, success: boolean, said: string): Counts {
  const counts = (gate.counts ? countsIn(said) : undefined) ??
    (success ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  // A command may fail with no check failing: a type error, a sanitizer, a crash at exit.
  return success ? counts : { passed: counts.passed, failed: Math.max(counts.failed, 1) };
}

/** The counts in the last line that has some, as `deno test` and {@linkcode closingLine} print it. */
export function countsIn(said: string): Counts | undefined {
  const last = [...said.matchAll(/^.*?\b(\d+) passed\b.*?\b(\d+) failed\b.*$/gm)].at(-1);
  return last && { passed: Number(last[1]), failed: Number(last[2]) };
}

async function runCommand(
  [program, ...args]: readonly string[],
): Promise<{ success: boolean; said: string }> {
  const child = new Deno.Command(program === "deno" ? Deno.execPath() : program, {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(LIMIT),
  }).spawn();
  let said = "";
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) said += text;
  };
  const [{ success }] = await Promise.all([child.status, read(child.stdout), read(child.stderr)]);
  return { success, said };
}

async function write(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let from = 0; from < bytes.length;) from += await Deno.stdout.write(bytes.subarray(from));
}

function indent(text: string): string {
  return text.trimEnd().split("\n").map((line) => `    ${line}\n`).join("");
}
