import { rows } from "./cases/registry.ts";
import { bench } from "./harness/bench.ts";

await bench(rows);
