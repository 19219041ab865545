import type { Rows } from "./survey.ts";

/** What was found on one runtime, as it is committed in `results/`. */
export interface Result {
  /** The runtime and its version. */
  readonly runtime: string;
  readonly rows: Rows;
}

/** The runtimes, as the table heads its columns, and their files in `results/`. */
export const FILES: Readonly<Record<string, string>> = {
  "Deno": "on_deno.json",
  "Node 20": "on_node_20.json",
  "Node 24": "on_node_24.json",
};

const FOLDER = new URL("./results/", import.meta.url);

/** Reads what is committed for a column. */
export async function readResult(column: string): Promise<Result> {
  return JSON.parse(await Deno.readTextFile(new URL(FILES[column], FOLDER)));
}

/** Reads what is committed, by column. */
export async function readResults(): Promise<Map<string, Result>> {
  const results = new Map<string, Result>();
  for (const column of Object.keys(FILES)) results.set(column, await readResult(column));
  return results;
}

/** Writes what is to be committed for a column. */
export async function writeResult(column: string, result: Result): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  const text = `${JSON.stringify(result, undefined, 2)}\n`;
  await Deno.writeTextFile(new URL(FILES[column], FOLDER), text);
}
