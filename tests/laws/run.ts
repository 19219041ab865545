import { check } from "./check.ts";

// deno task laws [programs] [seed]

const programs = numberOf(Deno.args[0] ?? "1000000");
const seed = numberOf(Deno.args[1] ?? String(Date.now() % 2 ** 31));
console.log(`${programs.toLocaleString("en")} random programs, seed ${seed}`);

const started = performance.now();
let printed = started;
try {
  const { programs: compared, reads, reports } = await check(programs, seed, (done) => {
    if (performance.now() - printed < 10_000) return;
    printed = performance.now();
    console.log(`  ${done.toLocaleString("en")} after ${seconds()} s`);
  });
  console.log(
    `${compared.toLocaleString("en")} programs, ${reads.toLocaleString("en")} reads and ` +
      `${reports.toLocaleString("en")} reports of misuse compared: 0 mismatches (${seconds()} s)`,
  );
} catch (error) {
  console.error((error as Error).message);
  Deno.exit(1);
}

function seconds(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}

function numberOf(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  console.error(`Cannot read "${text}": expected a whole number. deno task laws [programs] [seed]`);
  Deno.exit(1);
}
