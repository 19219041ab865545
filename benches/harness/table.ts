/**
 * Prints the table of ratios, as Markdown: `table.ts [--smoke] [--rounds=5] [part of a row's name]…`.
 *
 * A round is a fresh process for ours and one for the baseline, which take turns in short slices,
 * so that what disturbs the machine disturbs both. The ratio (or the difference, where the limit is
 * in nanoseconds) is the median of the rounds' ratios (or differences).
 *
 * @module
 */
import type { Limit, Row } from "./row.ts";
import { Side } from "./side.ts";

const smoke = Deno.args.includes("--smoke");
const rounds = Deno.args.find((argument) => argument.startsWith("--rounds="));
const wanted = Deno.args.filter((argument) => !argument.startsWith("--"));
const ROUNDS = smoke ? 1 : Number(rounds?.slice("--rounds=".length) ?? 5);
const SLICES = smoke ? 1 : 6;
const MILLISECONDS = smoke ? 1 : 15;

const layers = [...Deno.readDirSync(new URL("../cases", import.meta.url))]
  .map(({ name }) => name.replace(/\.ts$/, ""))
  .sort();

if (!smoke) {
  printLine("", "ours", "raw", "compared", "quartiles", "limit", "");
  printLine("---", "---", "---", "---", "---", "---", "---");
}
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
  for (let round = 0; round < ROUNDS; round++) rounds.push(await pair(layer, number, row, round));
  if (smoke) return printLine(row.what, "ran");
  const { limit } = row;
  const compared = rounds.map((round) => compare(round, row)).sort((a, b) => a - b);
  const middle = quantile(compared, 0.5);
  const alone = row.raw === undefined;
  printLine(
    row.what,
    medianOf(rounds, "ours").toFixed(1),
    alone ? "" : medianOf(rounds, "raw").toFixed(1),
    alone ? "" : inUnit(middle, limit),
    `${inUnit(quantile(compared, 0.25), limit)}–${inUnit(quantile(compared, 0.75), limit)}`,
    `${limit.unit === "times faster" ? "≥" : "≤"} ${inUnit(limit.most, limit)}`,
    middle <= limit.most ? "ok" : "over",
  );
}

async function pair(layer: string, number: number, row: Row, round: number) {
  const ours = new Side(layer, number, "ours", MILLISECONDS);
  const raw = row.raw && new Side(layer, number, "raw", MILLISECONDS);
  const sides = [ours, raw].filter((side) => side !== undefined);
  for (let slice = 0; slice < SLICES; slice++) {
    for (const side of (slice + round) % 2 === 0 ? sides : sides.toReversed()) await side.slice();
  }
  const { perCall = 1 } = row;
  return { ours: await ours.end() / perCall, raw: (await raw?.end() ?? NaN) / perCall };
}

/** What the limit of the row is of. */
function compare({ ours, raw }: { ours: number; raw: number }, row: Row): number {
  if (row.raw === undefined) return ours;
  return row.limit.unit === "ns" ? ours - raw : ours / raw;
}

function inUnit(compared: number, { unit }: Limit): string {
  if (unit === "bytes") return compared.toFixed(0);
  if (unit === "ns") return `${compared.toFixed(Math.abs(compared) < 100 ? 1 : 0)} ns`;
  if (unit === "ratio") return compared.toFixed(2);
  // Ratios below one read better the other way around: "25 ×" faster.
  const times = 1 / compared;
  return `${times.toFixed(times < 10 ? 2 : 0)} ×`;
}

function medianOf(rounds: readonly { ours: number; raw: number }[], side: "ours" | "raw"): number {
  return quantile(rounds.map((round) => round[side]).sort((a, b) => a - b), 0.5);
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor((sorted.length - 1) * part + 0.5)];
}

/** A row of a Markdown table. */
function printLine(what: string, ...cells: string[]): void {
  const widths = [12, 12, 8, 16, 10, 4];
  const padded = cells.map((cell, n) => cell.padStart(widths[n]));
  console.log(`| ${[what.padEnd(53), ...padded].join(" | ")} |`);
}
