/**
 * Data-parallel training on the irises, four ranks as four threads of this process and again as
 * four workers. In backward every parameter's gradient is averaged over the ranks: its node runs on
 * the engine's thread, or on a worker, and finds the process group of the rank that went forward,
 * because `RankLocal` is keyed by the forward thread.
 *
 * Begin to read at `training.ts`; the graph is in `tensor.ts`, the pass in `engine.ts`.
 */
import { fork } from "@thread-local/core/propagation";
import { drawChart } from "./chart.ts";
import { gradients } from "./engine.ts";
import { matmul, sum, tanh } from "./ops.ts";
import { openWorkers, RANKS, trainOnThreads, trainOnWorkers } from "./ranks.ts";
import { Tensor } from "./tensor.ts";

const faults: string[] = [];
const onThreads = await trainOnThreads();
const onWorkers = await trainOnWorkers();

for (const [where, ranks] of Object.entries({ threads: onThreads, workers: onWorkers })) {
  const [{ losses, accuracy }] = ranks;
  const [first, last] = [losses[0], losses[losses.length - 1]].map((loss) => loss.toFixed(4));
  console.log(
    `${RANKS} ranks as ${where}: loss ${first} → ${last} in ${losses.length} steps, ` +
      `${(accuracy * 100).toFixed(1)} % of unseen flowers right`,
  );
  if (accuracy < 0.93) faults.push(`the ${where} learned too little`);
}

const [threads, workers] = [onThreads[0].losses, onWorkers[0].losses];
const apart = Math.max(...threads.map((loss, step) => Math.abs(loss - workers[step])));
console.log(`the two loss curves differ by ${apart.toExponential(1)} at most`);
if (!(apart <= 1e-9)) faults.push("the loss curves differ");

// The nodes of three threads, evaluated on two workers: each worker tells them apart.
const pool = openWorkers(2);
const named = await Promise.all(["a", "b", "c"].map((name, index) =>
  fork(async () => {
    const x = Tensor.full(2, 2, 0.1 * (index + 1));
    const w = new Tensor(2, 2, Float64Array.of(0.5, -0.5, 0.25, 1), true);
    const loss = sum(tanh(matmul(x, w)));
    const [here, elsewhere] = [await gradients(loss), await gradients(loss, { pool })];
    return here.get(w)!.data.every((value, i) => value === elsewhere.get(w)!.data[i]);
  }, { name })
));
const calls = await Promise.all([0, 1].map(() => pool.execute(undefined, "kernelCalls"))) as [
  string,
  number,
][][];
await pool.destroy();
console.log(`kernels on workers, by forward thread: ${JSON.stringify(calls)}`);
for (const name of ["a", "b", "c"]) {
  const own = calls.flat().filter(([thread]) => thread === name);
  if (own.reduce((sum, [, count]) => sum + count, 0) !== 3) {
    faults.push(`a call of ${name} is lost`);
  }
}
if (named.includes(false)) faults.push("a gradient from the pool differs");

await Deno.writeTextFile(
  new URL("loss.svg", import.meta.url),
  drawChart("Mean loss over four ranks, by step", "step", [
    { name: "ranks as threads", color: "#1f77b4", dashes: "none", values: threads },
    { name: "ranks as workers", color: "#ff7f0e", dashes: "2 8", values: workers },
  ]),
);

console.log(faults.length === 0 ? "✓ right" : `✗ ${faults.join("; ")}`);
Deno.exitCode = faults.length === 0 ? 0 : 1;
