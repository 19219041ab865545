import type { Probe, Seen } from "./probe.ts";
import { probes } from "./probes/mod.ts";

/** Whose state one callback sees on one runtime. */
export interface Row {
  readonly asIs: Seen;
  /** With the probe's help, if it has some. */
  readonly helped?: Seen;
}

/** What was found on one runtime, by the names of the probes; `null` for what it does not have. */
export type Rows = Readonly<Record<string, Row | null>>;

/** One look that `run.ts` is asked for. */
export interface Asked {
  readonly name: string;
  readonly helped: boolean;
}

/** A process that hangs is stopped after this long, in milliseconds. */
const LIMIT = 60_000;

/** How `run.ts` is started on this Deno. */
export const DENO: readonly string[] = [
  Deno.execPath(),
  "run",
  "--allow-all",
  "--v8-flags=--expose-gc",
  new URL("./run.ts", import.meta.url).href,
];

/** Runs every probe on the runtime that `command` starts. */
export async function survey(command: readonly string[]): Promise<Rows> {
  const rows: Record<string, Row> = {};
  for (const batch of batches()) {
    const seen = await look(command, batch);
    for (const [index, { name, helped }] of batch.entries()) {
      const found = seen[index];
      if (found !== null) rows[name] = { ...rows[name], [helped ? "helped" : "asIs"]: found };
    }
  }
  return Object.fromEntries(probes.map(({ name }) => [name, rows[name] ?? null]));
}

/** What a probe finds in a process of its own. */
export async function surveyAlone(command: readonly string[], probe: Probe): Promise<Row> {
  const seen: Seen[] = [];
  for (const asked of looks(probe)) seen.push((await look(command, [asked]))[0]!);
  const [asIs, helped] = seen;
  return helped === undefined ? { asIs } : { asIs, helped };
}

/** Starts one process and returns what it saw. */
async function look(
  [program, ...args]: readonly string[],
  asked: readonly Asked[],
): Promise<(Seen | null)[]> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args, JSON.stringify(asked)],
    stdin: "null",
    signal: AbortSignal.timeout(LIMIT),
  }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new Error(
      `Cannot survey ${program}: it failed, or took longer than ${LIMIT} ms, at the last of:\n` +
        decoder.decode(stderr),
    );
  }
  return JSON.parse(decoder.decode(stdout).trimEnd().split("\n").at(-1)!);
}

/** The looks of one process each. */
function batches(): Asked[][] {
  const together = probes.filter(({ alone }) => !alone).flatMap(looks);
  return [together, ...probes.filter(({ alone }) => alone).flatMap(looks).map((asked) => [asked])];
}

function looks({ name, help }: Probe): Asked[] {
  const asIs = { name, helped: false };
  return help === undefined ? [asIs] : [asIs, { name, helped: true }];
}
