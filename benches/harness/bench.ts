import { AsyncLocalStorage } from "node:async_hooks";
import type { Case, Meter, Row } from "./row.ts";

const CALLS = 1_000;
const CALLS_ASYNC = 10;

let sink: unknown;

/**
 * Registers a `deno bench` group for each row: ours, beside its baseline. With a name, one group of
 * all of them, whose baseline is the first row's.
 */
export async function bench(rows: readonly Row[], group?: string): Promise<void> {
  const registered = new Set<Case>();
  for (const { what, raw, ours } of rows) {
    if (raw === undefined) continue; // A value is not a time.
    const [name, of] = group === undefined ? ["", what] : [`${what}: `, group];
    for (const [side, measured] of [["raw", raw], ["ours", ours]] as const) {
      if (group !== undefined && registered.has(measured)) continue;
      const baseline = side === "raw" && (group === undefined || registered.size === 0);
      await register(measured, name + side, { group: of, baseline });
      registered.add(measured);
    }
  }
}

/**
 * An iteration is 1,000 calls (10, if they are awaited), so that entering the state that the case
 * measures in costs nothing beside them.
 */
async function register(
  measured: Case,
  side: string,
  options: { group: string; baseline?: boolean },
): Promise<void> {
  const { promise: registered, resolve, reject } = Promise.withResolvers<void>();
  const meter: Meter = {
    time(op) {
      const inState = AsyncLocalStorage.snapshot();
      const loop = () => {
        for (let call = 0; call < CALLS; call++) sink = op();
      };
      Deno.bench(`${side}, ${CALLS} calls`, options, () => inState(loop));
      resolve();
    },
    timeAsync(op) {
      const inState = AsyncLocalStorage.snapshot();
      const loop = async () => {
        for (let call = 0; call < CALLS_ASYNC; call++) sink = await op();
      };
      Deno.bench(`${side}, ${CALLS_ASYNC} calls`, options, () => inState(loop));
      resolve();
      // The case must not go on to tear down what the bench will use.
      return new Promise(() => {});
    },
    value: () => resolve(),
  };
  Promise.resolve(measured(meter)).catch(reject);
  await registered;
  if (sink === meter) throw new Error("unreachable: reads what the loops write");
}
