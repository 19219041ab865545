import { drawChart } from "./chart.ts";
import { trainOnThreads } from "./ranks.ts";
const t = performance.now();
const threads = await trainOnThreads();
console.log(
  threads.map(({ accuracy, losses }) => [accuracy, losses[0], losses.at(-1)]),
  performance.now() - t,
);
await Deno.writeTextFile(
  new URL("loss.svg", import.meta.url),
  drawChart("Iris", "step", [{ name: "threads", color: "blue", values: threads[0].losses }]),
);
