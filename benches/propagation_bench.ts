import { rows } from "./cases/propagation.ts";
import { bench } from "./harness/bench.ts";

await bench(rows);
