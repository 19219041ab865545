import { rows } from "./cases/observers.ts";
import { bench } from "./harness/bench.ts";

await bench(rows);
