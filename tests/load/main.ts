/**
 * Many tasks by 1,000 users at once, over forks, a queue, emitters, iterators, loops and 4 workers:
 * `deno task load [tasks] [--unbound]`. Each reads its user at several points. The exit status is 1
 * if one of them reads another's value, or the heap grows.
 *
 * With `--unbound` it does the same without the library's help, to show what the checks find.
 *
 * @module
 */
import { AT_ONCE, Load } from "./load.ts";
import type { Tally } from "./tally.ts";
import { Workload } from "./workload.ts";

/** By how many bytes an isolate's heap may grow: compiled code, and what else the runtime keeps. */
const FLAT = 2_500_000;

const flags = Deno.args.filter((arg) => arg.startsWith("-"));
const [tasks = "1000000", ...rest] = Deno.args.filter((arg) => !arg.startsWith("-"));
const count = Number(tasks);
if (
  !Number.isSafeInteger(count) || count < 1 || rest.length > 0 ||
  flags.some((flag) => flag !== "--unbound")
) {
  console.error(
    `Cannot read "${Deno.args.join(" ")}": expected a whole number from 1, or nothing. ` +
      `deno task load [tasks] [--unbound]`,
  );
  Deno.exit(1);
}

const load = new Load(!flags.includes("--unbound"));
const started = performance.now();
const timer = setInterval(() => console.log(`  ${format(load.total.tasks)} tasks done`), 10_000);
const early = await load.perform(Math.ceil(count / 10));
const late = await load.perform(count);
clearInterval(timer);
await load.end();

const { total, outside, misuse, users } = load;
const grown = late.here - early.here > FLAT ||
  late.workers - early.workers > Workload.WORKERS * FLAT;
const faults = [
  ...(total.tasks === count ? [] : ["tasks are missing"]),
  ...(total.wrong === 0 ? [] : ["reads of another's value"]),
  ...(misuse === 0 ? [] : ["reports of misuse"]),
  ...(grown ? ["the heap grew"] : []),
];

console.log(
  `\n  ${format(count)} tasks by ${format(users.size)} users, ${AT_ONCE} at once, ` +
    `${Workload.WORKERS} workers, ${((performance.now() - started) / 1000).toFixed(0)} s\n`,
);
printRow("", "tasks", "reads", "wrong reads");
for (const [kind, tally] of load.tallies) printTally(kind, tally);
printTally("between the tasks", outside);
printTally("all", total);
printRow("");
printRow("heap in use, in KB", "at 10 %", "at the end");
printRow("this isolate", kilobytes(early.here), kilobytes(late.here));
printRow(`${Workload.WORKERS} workers`, kilobytes(early.workers), kilobytes(late.workers));
printRow("");
printRow("reports of misuse", format(misuse));
console.log(faults.length === 0 ? "\n  ✓ 0 wrong, heap flat" : `\n  ✗ ${faults.join("; ")}`);
Deno.exit(faults.length === 0 ? 0 : 1);

function printTally(label: string, { tasks, reads, wrong }: Tally): void {
  printRow(label, format(tasks), format(reads), format(wrong));
}

function printRow(label: string, ...cells: string[]): void {
  console.log(`  ${label.padEnd(28)}${cells.map((cell) => cell.padStart(14)).join("")}`.trimEnd());
}

function kilobytes(bytes: number): string {
  return format(Math.round(bytes / 1_000));
}

function format(number: number): string {
  return number.toLocaleString("en");
}
