/**
 * Packs the library, installs the tarball in a temporary project, and runs the smoke suite there
 * under every runtime. With `--all` a runtime that is missing is a failure.
 *
 * @module
 */
import { closingLine } from "../gates/gate.ts";
import { findProgram } from "../gates/program.ts";
import { deno } from "../gates/project.ts";
import { bundle, importsLeft, runPage } from "./browser.ts";
import { installPrograms, npmInstall, type Program } from "./programs.ts";
import type { SmokeResult } from "./smoke_result.ts";

/** A runtime that hangs is stopped after this long, in milliseconds. */
const LIMIT = 60_000;

const all = Deno.args.includes("--all");
const folder = await Deno.makeTempDir({ prefix: "thread-local-packed-" });
let passed = 0;
let failed = 0;
try {
  const programs = await installPrograms();
  if (Object.values(programs).some((program) => "path" in program)) await installPacked();
  for (const version of [20, 22, 24]) {
    await report(`Node ${version}`, programs[`node-${version}`], runCommand);
  }
  await report("Bun", programs["bun"], runCommand);
  await report("TypeScript (types)", programs["tsc"], compileTypes);
  await report(
    "Chromium (bundle)",
    findBrowser(programs["esbuild"]),
    (browser) => runBundle((programs["esbuild"] as { path: string }).path, browser),
  );
} finally {
  // A process of the browser's that is still going down may write to its profile.
  await Deno.remove(folder, { recursive: true }).catch(() => {});
}
console.log(closingLine({ passed, failed }));
Deno.exit(failed === 0 ? 0 : 1);

/** Two copies of the package: what they share is a part of the suite. */
async function installPacked(): Promise<void> {
  await deno("pack", "--allow-dirty", "--output", `${folder}/core.tgz`);
  const fault = await npmInstall(folder, [
    "@thread-local/core@file:core.tgz",
    "second-copy@file:core.tgz",
  ]);
  if (fault !== undefined) throw new Error(`Cannot install the packed library: ${fault}`);
  for await (const { name } of Deno.readDir(new URL(".", import.meta.url))) {
    if (!/\.m[jt]s$/.test(name)) continue;
    await Deno.copyFile(new URL(name, import.meta.url), `${folder}/${name}`);
  }
}

function findBrowser(esbuild: Program): Program {
  if ("missing" in esbuild) return esbuild;
  const path = findProgram("chromium", "chromium-browser", "google-chrome");
  return path === undefined
    ? { missing: "chromium not found (apt-get install chromium)" }
    : { path };
}

/** Runs the suite under one runtime and prints its row and what failed. */
async function report(
  name: string,
  program: Program,
  run: (path: string) => Promise<SmokeResult[]>,
): Promise<void> {
  if ("missing" in program) {
    if (all) failed++;
    console.log(`${name.padEnd(20)} ${all ? "MISSING" : "ignored"}  ${program.missing}`);
    return;
  }
  let results: SmokeResult[];
  try {
    results = await run(program.path);
  } catch (error) {
    results = [{ name: "the suite runs to its end", error: String(error) }];
  }
  const faults = results.filter(({ error }) => error !== undefined);
  passed += results.length - faults.length;
  failed += faults.length;
  const counts = closingLine({ passed: results.length - faults.length, failed: faults.length });
  console.log(`${name.padEnd(20)} ${counts}  (${await versionOf(program.path)})`);
  for (const { name, error } of faults) console.log(`  FAILED ${name}\n    ${error}`);
}

async function runCommand(path: string): Promise<SmokeResult[]> {
  const { success, stdout, stderr } = await new Deno.Command(path, {
    args: ["command.mjs"],
    cwd: folder,
    signal: AbortSignal.timeout(LIMIT),
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout).trim().split("\n").at(-1)!);
}

async function compileTypes(tsc: string): Promise<SmokeResult[]> {
  const { success, stdout } = await new Deno.Command(tsc, {
    args: ["--noEmit", "--strict", "--module", "nodenext", "--lib", "esnext,dom", "types.mts"],
    cwd: folder,
    signal: AbortSignal.timeout(LIMIT),
  }).output();
  const error = success ? undefined : new TextDecoder().decode(stdout);
  return [{ name: "the packed declarations hold what they promise", error }];
}

async function runBundle(esbuild: string, browser: string): Promise<SmokeResult[]> {
  const script = await bundle(esbuild, folder, "page.mjs");
  const left = await importsLeft(folder);
  return [
    {
      name: "the bundle imports nothing, node:async_hooks least of all",
      error: left.length === 0 ? undefined : `It imports ${left.join(", ")}`,
    },
    ...await runPage(browser, script, await Deno.makeTempDir({ dir: folder })),
  ];
}

async function versionOf(path: string): Promise<string> {
  const { stdout } = await new Deno.Command(path, { args: ["--version"] }).output();
  return new TextDecoder().decode(stdout).trim();
}
