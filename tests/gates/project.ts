/** What deno.json says of the project. */
export interface Project {
  /** The package's name. */
  readonly name: string;
  /** The entry points: the export's name (`"."`, `"./guards"`) and its file (`"./guards/mod.ts"`). */
  readonly exports: Readonly<Record<string, string>>;
  /** The tasks by name. */
  readonly tasks: Readonly<Record<string, string>>;
}

/** The root of the project, with a slash at its end. */
export const ROOT: URL = new URL("../../", import.meta.url);

/** Reads deno.json. */
export async function readProject(): Promise<Project> {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
}

/** A file of the project as a path from its root, or `undefined` if `url` lies elsewhere. */
export function pathInProject(url: string): string | undefined {
  return url.startsWith(ROOT.href) ? url.slice(ROOT.href.length) : undefined;
}

/** Runs this deno in the root of the project and returns what it printed, or throws what it said. */
export async function deno(...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  if (!success) {
    throw new Error(`Cannot run "deno ${args.join(" ")}":\n${new TextDecoder().decode(stderr)}`);
  }
  return new TextDecoder().decode(stdout);
}
