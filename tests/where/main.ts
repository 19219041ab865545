/**
 * Finds out whose state every kind of callback sees, on this Deno and on Node 20 and 24, and writes
 * it to `results/` and into the README. Look at what has changed before it is committed.
 *
 * @module
 */
import { ROOT } from "../gates/project.ts";
import { installPrograms, type Program } from "../runtimes/programs.ts";
import { readResults, writeResult } from "./result.ts";
import { DENO, survey } from "./survey.ts";
import { putSection, renderSection } from "./table.ts";

const README = new URL("README.md", ROOT);

await update("Deno", `Deno ${Deno.version.deno}`, DENO);
const programs = await installPrograms();
const folder = await Deno.makeTempDir({ prefix: "thread-local-where-" });
try {
  for (const version of [20, 24]) await updateNode(version);
} finally {
  await Deno.remove(folder, { recursive: true });
}
const readme = await Deno.readTextFile(README);
await Deno.writeTextFile(README, putSection(readme, await renderSection(await readResults())));

async function update(column: string, runtime: string, command: readonly string[]): Promise<void> {
  await writeResult(column, { runtime, rows: await survey(command) });
  console.log(`${column.padEnd(8)} ${runtime}`);
}

async function updateNode(version: number): Promise<void> {
  const node = programs[`node-${version}`];
  const missing = missingOf(node) ?? missingOf(programs["esbuild"]);
  if (missing !== undefined) {
    console.log(`Node ${version}  kept as it was: ${missing}`);
    return;
  }
  const path = pathOf(node);
  const runtime = `Node ${(await output(path, "--version")).trim().slice(1)}`;
  await update(`Node ${version}`, runtime, [path, "--expose-gc", await bundle()]);
}

/** The probes, and the worker's side of some, as Node 20 takes them. */
async function bundle(): Promise<string> {
  await output(
    pathOf(programs["esbuild"]),
    pathname("tests/where/run.ts"),
    pathname("tests/where/worker_side.ts"),
    "--bundle",
    "--platform=node",
    "--target=node20",
    "--format=esm",
    "--log-level=warning",
    `--alias:@thread-local/core=${pathname("mod.ts")}`,
    `--alias:@thread-local/core/workers=${pathname("workers/mod.ts")}`,
    `--outdir=${folder}`,
    "--out-extension:.js=.mjs",
  );
  return `${folder}/run.mjs`;
}

/** A file of the project. */
function pathname(path: string): string {
  return new URL(path, ROOT).pathname;
}

async function output(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot run ${program}:\n${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

function missingOf(program: Program): string | undefined {
  return "missing" in program ? program.missing : undefined;
}

function pathOf(program: Program): string {
  if ("path" in program) return program.path;
  throw new Error(program.missing);
}
