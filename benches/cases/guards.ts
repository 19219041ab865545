import { ThreadLocal } from "@thread-local/core";
import {
  type DispatchKey,
  dispatchKeys,
  ExcludeDispatchKeyGuard,
  InferenceMode,
  isGradEnabled,
  NoGradGuard,
} from "@thread-local/core/guards";
import { atMost, type Case, type Row } from "../harness/row.ts";

let value = 0;

/** A slot of its own: the first in the frames, as grad mode's is in the other case. */
const slotWith: Case = (meter) => {
  const slot = new ThreadLocal("bench.guards", { initial: true, shared: true });
  return meter.time(() => {
    using _ = slot.with(false);
    return ++value;
  });
};

const noGrad: Case = (meter) =>
  meter.time(() => {
    using _ = new NoGradGuard();
    return ++value;
  });

const inferenceMode: Case = (meter) =>
  meter.time(() => {
    using _ = new InferenceMode();
    return ++value;
  });

const exclude: Case = (meter) => {
  const key: DispatchKey = dispatchKeys.Tracer;
  return meter.time(() => {
    using _ = new ExcludeDispatchKeyGuard(key);
    return ++value;
  });
};

const read: Case = (meter) => NoGradGuard.run(() => meter.time(isGradEnabled));

const rawRead: Case = (meter) => {
  const slot = new ThreadLocal("bench.guards", { initial: true, shared: true });
  return slot.run(false, () => meter.time(() => slot.get()));
};

export const rows: readonly Row[] = [
  {
    what: "using NoGradGuard / using slot.with()",
    ours: noGrad,
    raw: slotWith,
    limit: atMost(1.1),
  },
  {
    what: "using InferenceMode (two slots) / slot.with()",
    ours: inferenceMode,
    raw: slotWith,
    limit: atMost(1.5),
  },
  {
    what: "using ExcludeDispatchKeyGuard / slot.with()",
    ours: exclude,
    raw: slotWith,
    limit: atMost(1.5),
  },
  { what: "isGradEnabled() / slot.get()", ours: read, raw: rawRead, limit: atMost(1.5) },
];
