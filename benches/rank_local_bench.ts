import { rows } from "./cases/rank_local.ts";
import { bench } from "./harness/bench.ts";

await bench(rows, "rank-local");
