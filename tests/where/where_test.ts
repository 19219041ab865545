import { assertEquals } from "@std/assert";
import { ROOT } from "../gates/project.ts";
import { see } from "./probe.ts";
import { probes } from "./probes/mod.ts";
import { FILES, readResult, readResults } from "./result.ts";
import { DENO, type Row, surveyAlone } from "./survey.ts";
import { renderSection, sectionOf } from "./table.ts";

const LOOK = 'Run "deno task where" and look at what has changed in README.md';

const { rows } = await readResult("Deno");

for (const probe of probes.filter(({ exists }) => exists !== false)) {
  Deno.test(`the state that a callback sees is as the table says: ${probe.name}`, async () => {
    const row: Row = probe.alone ? await surveyAlone(DENO, probe) : {
      asIs: await see(probe, false),
      ...(probe.help && { helped: await see(probe, true) }),
    };

    assertEquals(row, rows[probe.name], LOOK);
  });
}

Deno.test("the committed results have a row for each probe, and no other", async () => {
  const names = probes.map(({ name }) => name);

  for (const column of Object.keys(FILES)) {
    const { rows } = await readResult(column);

    assertEquals(Object.keys(rows), names, `${LOOK} (${column})`);
  }
});

Deno.test("README.md has the table of the committed results", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", ROOT));

  assertEquals(sectionOf(readme), await renderSection(await readResults()), LOOK);
});
