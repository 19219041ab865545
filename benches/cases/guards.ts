import { saveThreadLocalState, ThreadLocal } from "@thread-local/core";
import { isGradEnabled, NoGradGuard } from "@thread-local/core/guards";
import { atMost, type Case, type Row } from "../harness/row.ts";

const declare = () => new ThreadLocal("bench.guards", { initial: true, shared: true });

/** Each slot where it is first declared, and something bound around the guards. */
const noGrad: Case = (meter) =>
  NoGradGuard.run(() =>
    meter.time(() => {
      using _ = new NoGradGuard();
      return isGradEnabled();
    })
  );

const rawWith: Case = (meter) => {
  const slot = declare();
  return saveThreadLocalState().with(slot, false).run(() =>
    meter.time(() => {
      using _ = slot.with(false);
      return slot.get();
    })
  );
};

/** The lines of the table for PyTorch's own guards. */
export const rows: readonly Row[] = [
  { what: "using NoGradGuard / slot.with()", ours: noGrad, raw: rawWith, limit: atMost(1.1) },
];
