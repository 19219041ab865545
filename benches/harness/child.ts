/**
 * Measures one side of one row in this process, as `SliceMeter` says:
 * `child.ts <layer> <row's number> ours|raw <milliseconds a slice>`.
 *
 * @module
 */
import type { Row } from "./row.ts";
import { lastResultIs, SliceMeter } from "./slice_meter.ts";

const [layer, number, side, milliseconds] = Deno.args;
const { rows } = await import(`../cases/${layer}.ts`) as { rows: readonly Row[] };
const meter = new SliceMeter(Number(milliseconds));
await rows[Number(number)][side as "ours" | "raw"]!(meter);
Deno.exit(lastResultIs(meter) ? 1 : 0); // Also ends workers that a case left behind.
