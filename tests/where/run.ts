/**
 * What each runtime runs: it prints, as a line of JSON, what it saw for each look that its argument
 * asks for; `null` where the runtime does not have the callback.
 *
 * @module
 */
import process from "node:process";
import { see } from "./probe.ts";
import { probes } from "./probes/mod.ts";
import type { Asked } from "./survey.ts";

const byName = new Map(probes.map((probe) => [probe.name, probe]));
// What is waited for does not always keep the process: Node's AbortSignal.timeout does not.
const kept = setInterval(() => {}, 1_000);
const seen = [];
for (const { name, helped } of JSON.parse(process.argv[2]) as Asked[]) {
  const probe = byName.get(name)!;
  console.error(`looks at ${name}`);
  seen.push(probe.exists === false ? null : await see(probe, helped));
}
clearInterval(kept);
console.log(JSON.stringify(seen));
