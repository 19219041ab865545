import { assert, assertEquals } from "@std/assert";
import { readProject, ROOT } from "./project.ts";

const CONSUMER = new URL("tests/consumer/", ROOT);

/** Runs deno in a child process, and returns what it printed. */
async function deno(cwd: URL, args: string[], source = ""): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ success, stdout, stderr }] = await Promise.all([
    child.output(),
    new Blob([source]).stream().pipeTo(child.stdin),
  ]);
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(success, said);
  return said;
}

Deno.test("a project that imports the library from JSR type-checks and runs", async () => {
  await deno(CONSUMER, ["check", "."]);

  const said = await deno(CONSUMER, ["run", "main.ts"]);

  // The first and the last thing that it tries.
  assert(said.includes("ok: registry.get() finds the slot"), said);
  assert(said.includes("ok: a message brings its sender's state"), said);
});

Deno.test("every entry point is there under its name on JSR", async () => {
  const { name, exports } = await readProject();
  const imports = Object.keys(exports).map((path, n) =>
    `import type * as part${n} from "jsr:${name}@^0.1${path.slice(1)}";
     export type Part${n} = typeof part${n};`
  );

  await deno(CONSUMER, ["run", "--check", "-"], imports.join("\n"));
});

Deno.test("neither tests nor the consumer are published", async () => {
  const said = await deno(ROOT, ["publish", "--dry-run", "--allow-dirty"]);

  const paths = [...said.matchAll(/file:\/\/\S+/g)].map(([url]) => url.slice(ROOT.href.length));

  assert(paths.includes("mod.ts"), said);
  assertEquals(paths.filter((path) => /^(?:tests|benches|examples)\//.test(path)), []);
});
