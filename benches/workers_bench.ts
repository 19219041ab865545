import { rows } from "./cases/workers.ts";
import { bench } from "./harness/bench.ts";

await bench(rows);
