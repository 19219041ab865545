/** The ranks of a run: four threads of this process, or four workers. */
import { fork } from "@thread-local/core/propagation";
import { Group, Rendezvous } from "./collective.ts";
import { registerGroup, setThreadIsolation } from "./groups.ts";
import { rank, train, type TrainingResult } from "./training.ts";

export const RANKS = 4;

/** Rank `r` in the current thread or process: registers its group, then trains. */
export async function beRank(group: Group): Promise<TrainingResult> {
  registerGroup("data_parallel", group);
  const result = await train();
  group.destroy();
  return result;
}

/** Four threads of one process. Each finds its own group under the one name. */
export function trainOnThreads(): Promise<TrainingResult[]> {
  setThreadIsolation(true);
  const rendezvous = new Rendezvous(RANKS);
  return Promise.all(
    Array.from(
      { length: RANKS },
      (_, r) =>
        rank.run(
          r,
          () => fork(() => beRank(Group.inProcess(r, rendezvous)), { name: `rank ${r}` }),
        ),
    ),
  );
}
