/** The file of a worker: a rank of its own, or the place where kernels are computed. */
import { threadLocalWorker } from "@thread-local/core/workers/worker";
import { wrap } from "comlink";
import { Group, type Rendezvous } from "./collective.ts";
import { evaluateHere, kernelCalls, type KernelTask } from "./kernels.ts";
import { beRank } from "./ranks.ts";
import { rank } from "./training.ts";

/** What a rank is told: how many there are, and the way to the rendezvous. */
export interface RankTask {
  readonly size: number;
  readonly port: MessagePort;
}

threadLocalWorker<never, unknown>({
  train: (task?: RankTask) =>
    beRank(Group.at(wrap<Rendezvous>(task!.port), rank.get(), task!.size)),
  kernel: (task?: KernelTask) => evaluateHere(task!),
  kernelCalls: () => [...kernelCalls].map(([{ name }, { count }]) => [name, count]),
});
