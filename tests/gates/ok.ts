/**
 * The one gate: `deno task ok`. It tries everything that must hold before a change goes in, one
 * after the other, and ends with its counts.
 *
 * With `--ci` the tests have run already, and what is missing on the machine is a failure.
 *
 * @module
 */
import { closingLine, type Gate, tryGate } from "./gate.ts";
import { findProgram } from "./program.ts";
import { readProject, ROOT } from "./project.ts";

/** The packages of tests/npm/, which stands in for them on machines that do not reach JSR. */
const STD = ["jsr:@std/assert@^1", "jsr:@std/testing@^1/bdd", "jsr:@std/testing@^1/types"];

const ci = Deno.args.includes("--ci");
const { exports, tasks } = await readProject();
const entries = Object.values(exports);
const map = await pickImportMap();
const texts = (await namesIn(".")).filter((name) => name.endsWith(".md"));

const tests: Gate = { name: "tests", commands: [["deno", "task", "test"]], counts: true };

const gates: Gate[] = [
  { name: "format", commands: [["deno", "fmt", "--check"]] },
  { name: "lint", commands: [["deno", "lint"]] },
  { name: "types", commands: [["deno", "check", ...map, "."]] },
  { name: "types of examples in docs", commands: [["deno", "check", "--doc", ...map, "."]] },
  ...texts.map((name) => ({
    name: `types of ${name}`,
    commands: [["deno", "check", "--doc-only", ...map, name]],
  })),
  { name: "doc lint", commands: [["deno", "doc", "--lint", ...entries]] },
  { name: "doc coverage", commands: [["deno", "task", "docs"]] },
  { name: "layers", commands: [["deno", "task", "layers"]] },
  ...(ci ? [] : [tests]),
  { name: "publish", commands: [["deno", "publish", "--dry-run", "--allow-dirty"]] },
  { name: "consumer", commands: [["deno", "task", "--cwd", "tests/consumer", "ok"]] },
  ...("bench:smoke" in tasks
    ? [{ name: "benches", commands: [["deno", "task", "bench:smoke"]] }]
    : []),
  ...await exampleGates(),
  {
    name: "runtimes",
    commands: [["deno", "task", "runtimes", ...(ci ? ["--all"] : [])]],
    counts: true,
    shown: true,
  },
];

let passed = 0;
let failed = 0;
for (const gate of gates) {
  const counts = await tryGate(gate);
  passed += counts.passed;
  failed += counts.failed;
}
console.log(closingLine({ passed, failed }));
Deno.exit(failed === 0 ? 0 : 1);

/** Finds out once whether JSR is within reach, and says so. */
async function pickImportMap(): Promise<string[]> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "-q", ...STD],
    cwd: ROOT,
    stdout: "null",
    stderr: "null",
  }).output();
  const map = success ? [] : ["--import-map=tests/npm/import_map.json"];
  console.log(`@std from ${success ? "JSR" : `npm ${map[0]}`}`);
  return map;
}

/** Every example is run: a file of examples/, or the main.ts of a folder there. */
async function exampleGates(): Promise<Gate[]> {
  const gates: Gate[] = [];
  for (const name of await namesIn("examples")) {
    const path = `examples/${name.endsWith(".ts") ? name : `${name}/main.ts`}`;
    // What a worker evaluates is no example of its own.
    if (name.endsWith("_worker.ts") || name.startsWith("_")) continue;
    const source = await Deno.readTextFile(new URL(path, ROOT)).catch(() => undefined);
    if (source === undefined) continue;
    gates.push({
      name: path.replace(/\.ts$|\/main\.ts$/, ""),
      commands: [["deno", "run", "-A", ...map, path]],
      ignored: ci ? undefined : missingProgram(source),
    });
  }
  return gates;
}

/** An example that needs more than Deno says so in a line of its comments: `Needs: nats-server`. */
function missingProgram(source: string): string | undefined {
  const needed = /^(?:\/\/| \*) Needs: (.+)$/m.exec(source)?.[1].split(/,\s*/) ?? [];
  const missing = needed.filter((program) => findProgram(program) === undefined);
  return missing.length === 0
    ? undefined
    : `${missing.join(" and ")} not found (apt-get install ${missing.join(" ")})`;
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(new URL(folder, ROOT))) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort();
}
