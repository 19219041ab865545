import type { Probe } from "./probe.ts";
import { probes } from "./probes/mod.ts";
import type { Result } from "./result.ts";

const BEGIN = "<!-- deno task where: begin -->";
const END = "<!-- deno task where: end -->";

const LEGEND = `
- **registered**: that of whoever added the callback or began the work. **none**: no slot is bound.
- **dispatcher**: that of whoever makes it happen: emits, posts, writes, aborts, calls \`next()\`.
- **opened**: that of whoever opened or started the socket, server or port. **leaked**: a stranger's.
`;

/** The section of the README, between its two markers, in the format of `deno fmt`. */
export async function renderSection(results: ReadonlyMap<string, Result>): Promise<string> {
  const columns = [...results.keys()];
  const lines = [
    ["callback", ...columns, "with our helper"],
    ["---", ...columns.map(() => "---"), "---"],
    ...probes.map((probe) => cells(probe, [...results.values()])),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  const versions = [...results.values()].map(({ runtime }) => runtime).join(", ");
  return await format([
    BEGIN,
    `Whose state a callback sees (measured on ${versions}):`,
    LEGEND,
    ...lines,
    "",
    END,
  ].join("\n"));
}

/** The section that a README has now. */
export function sectionOf(readme: string): string {
  const [begin, end] = bounds(readme);
  return readme.slice(begin, end);
}

/** A README with `section` in the place of the one that it has. */
export function putSection(readme: string, section: string): string {
  const [begin, end] = bounds(readme);
  return readme.slice(0, begin) + section + readme.slice(end);
}

function bounds(readme: string): [begin: number, end: number] {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) {
    throw new Error(
      `Cannot find the table in README.md: it needs the lines "${BEGIN}" and "${END}"`,
    );
  }
  return [begin, end + END.length];
}

function cells({ name, help }: Probe, results: readonly Result[]): string[] {
  const rows = results.map(({ rows }) => rows[name]);
  const helped = new Set(rows.flatMap((row) => row?.helped ?? []));
  return [
    name,
    ...rows.map((row) => row?.asIs ?? "–"),
    help === undefined ? "" : `${[...helped].join(" or ")}: \`${help.name}\``,
  ];
}

async function format(text: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext=md", "--line-width=100", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout } = await output;
  if (!success) throw new Error("Cannot format the table: deno fmt failed");
  return new TextDecoder().decode(stdout).trimEnd();
}
