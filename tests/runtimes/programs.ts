/**
 * The runtimes that npm carries as plain files: the packages named here hold the binaries
 * themselves, so that nothing needs an install script.
 *
 * @module
 */
import { tmpdir } from "node:os";
import { findProgram } from "../gates/program.ts";

const SYSTEM = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
const OVEN_SYSTEM = SYSTEM.replace("arm64", "aarch64");

/** Which versions: an entry changes, and a fresh folder is installed. */
const PACKAGES: Readonly<Record<string, string>> = {
  "node-20": `npm:node-${SYSTEM}@20`,
  "node-22": `npm:node-${SYSTEM}@22`,
  "node-24": `npm:node-${SYSTEM}@24`,
  "bun": `npm:@oven/bun-${OVEN_SYSTEM}@1.4`,
  "esbuild": `npm:@esbuild/${SYSTEM}@0.28`,
  "tsc": "npm:typescript@5.9",
};

/** A program that npm brought, or why it did not and how to get it. */
export type Program = { readonly path: string } | { readonly missing: string };

/** The programs by name: `node-20`, `node-22`, `node-24`, `bun`, `esbuild`, `tsc`. */
export async function installPrograms(): Promise<Record<string, Program>> {
  const folder = `${tmpdir()}/thread-local-runtimes-${await versionsKey()}`;
  let fault: string | undefined;
  if (!exists(folder)) fault = await install(folder);
  return Object.fromEntries(
    Object.keys(PACKAGES).map((name) => {
      const path = `${folder}/node_modules/${name}/bin/${name.replace(/-\d+$/, "")}`;
      if (exists(path)) return [name, { path }];
      return [name, { missing: fault ?? `npm has no ${PACKAGES[name]} (try: rm -r ${folder})` }];
    }),
  );
}

/** Installs `packages` (npm's alias@spec or files) in `folder`, and says what went wrong. */
export async function npmInstall(folder: string, packages: string[]): Promise<string | undefined> {
  const npm = findProgram("npm");
  if (npm === undefined) return "npm not found (it comes with Node.js: apt-get install npm)";
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true, "type": "module" }\n');
  const { success, stderr } = await new Deno.Command(npm, {
    args: [...args, ...packages],
    cwd: folder,
    stdout: "null",
  }).output();
  if (success) return undefined;
  return `npm ${[...args, ...packages].join(" ")}: ${new TextDecoder().decode(stderr).trim()}`;
}

/** Moved into its place whole: what an interrupted run leaves behind is never taken for installed. */
async function install(folder: string): Promise<string | undefined> {
  const fresh = await Deno.makeTempDir({ prefix: "thread-local-runtimes-" });
  try {
    const specs = Object.entries(PACKAGES).map(([name, spec]) => `${name}@${spec}`);
    const fault = await npmInstall(fresh, specs);
    if (fault !== undefined) return fault;
    await Deno.rename(fresh, folder);
  } catch (error) {
    // Another run was faster.
    if (!exists(folder)) throw error;
  } finally {
    if (exists(fresh)) await Deno.remove(fresh, { recursive: true });
  }
}

async function versionsKey(): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(PACKAGES));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return hash.toHex().slice(0, 12);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
