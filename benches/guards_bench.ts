import { rows } from "./cases/guards.ts";
import { bench } from "./harness/bench.ts";

await bench(rows);
