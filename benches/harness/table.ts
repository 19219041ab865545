/**
 * Prints the table of ratios: `table.ts [--smoke] [part of a row's name]…`.
 *
 * A round is a fresh process for ours and one for the baseline, which take turns in short slices,
 * so that what disturbs the machine disturbs both. The ratio is the median of the rounds' ratios.
 *
 * @module
 */
import type { Limit, Row } from "./row.ts";
import { Side } from "./side.ts";

const smoke = Deno.args.includes("--smoke");
const wanted = Deno.args.filter((argument) => !argument.startsWith("--"));
const ROUNDS = smoke ? 1 : 9;
const SLICES = smoke ? 1 : 8;
const MILLISECONDS = smoke ? 1 : 15;

const layers = [...Deno.readDirSync(new URL("../cases", import.meta.url))]
  .map(({ name }) => name.replace(/\.ts$/, ""))
  .sort();

if (!smoke) printLine("", "ours", "raw", "ratio", "quartiles", "limit", "");
let rowsRun = 0;
for (const layer of layers) {
  const { rows } = await import(`../cases/${layer}.ts`) as { rows: readonly Row[] };
  for (const [number, row] of rows.entries()) {
    if (wanted.length > 0 && !wanted.some((part) => row.what.includes(part))) continue;
    await measure(layer, number, row);
    rowsRun++;
  }
}
console.log(smoke ? `\n${rowsRun} rows ran` : "\nours and raw in ns, or bytes");

async function measure(layer: string, number: number, row: Row): Promise<void> {
  const rounds: { ours: number; raw: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(await (row.raw === undefined ? single : pair)(layer, number, round));
  }
  const over = row.limit.unit === "ns over";
  const ratios = rounds.map(({ ours, raw }) => over ? ours - raw : ours / raw)
    .sort((a, b) => a - b);
  const ratio = quantile(ratios, 0.5);
  const ours = quantile(rounds.map(({ ours }) => ours).sort((a, b) => a - b), 0.5);
  const raw = quantile(rounds.map(({ raw }) => raw).sort((a, b) => a - b), 0.5);
  const { most, unit } = row.limit;
  const shown = row.raw === undefined ? ours : ratio;
  if (smoke) return printLine(row.what, "ran");
  printLine(
    row.what,
    ours.toFixed(1),
    row.raw === undefined ? "" : raw.toFixed(1),
    row.raw === undefined ? "" : inUnit(ratio, row.limit),
    row.raw === undefined
      ? ""
      : `${inUnit(quantile(ratios, 0.25), row.limit)}–${inUnit(quantile(ratios, 0.75), row.limit)}`,
    row.raw === undefined
      ? `≤ ${most}`
      : `${unit === "times faster" ? "≥" : "≤"} ${inUnit(most, row.limit)}`,
    shown <= most ? "ok" : "over",
  );
}

async function pair(layer: string, number: number, round: number) {
  const ours = new Side(layer, number, "ours", MILLISECONDS);
  const raw = new Side(layer, number, "raw", MILLISECONDS);
  for (let slice = 0; slice < SLICES; slice++) {
    const order = (slice + round) % 2 === 0 ? [ours, raw] : [raw, ours];
    for (const side of order) await side.slice();
  }
  return { ours: await ours.end(), raw: await raw.end() };
}

async function single(layer: string, number: number) {
  const ours = new Side(layer, number, "ours", MILLISECONDS);
  await ours.slice();
  return { ours: await ours.end(), raw: NaN };
}

/** Ratios below one read better the other way around: "25 ×" faster. Differences are in ns. */
function inUnit(ratio: number, { unit }: Limit): string {
  if (unit === "ns over") return `+${ratio.toFixed(1)}`;
  if (unit !== "times faster") return ratio.toFixed(2);
  const times = 1 / ratio;
  return `${times.toFixed(times < 10 ? 2 : 0)} ×`;
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor((sorted.length - 1) * part + 0.5)];
}

function printLine(what: string, ...cells: string[]): void {
  const widths = [10, 10, 9, 17, 9, 6];
  console.log(what.padEnd(48) + cells.map((cell, n) => cell.padStart(widths[n])).join(""));
}
