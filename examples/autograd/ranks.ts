/** The ranks of a run: four threads of this process, or four workers. */
import { fork } from "@thread-local/core/propagation";
import { threadLocalPool } from "@thread-local/core/workers";
import { expose } from "comlink";
import { FixedThreadPool } from "poolifier-web-worker";
import { Group, Rendezvous } from "./collective.ts";
import { registerGroup, setThreadIsolation, unregisterGroup } from "./groups.ts";
import type { RankTask } from "./rank_worker.ts";
import { GROUP, rank, train, type TrainingResult } from "./training.ts";

export const RANKS = 4;

/** Rank `r` in the current thread or process: registers its group, then trains. */
export async function beRank(group: Group): Promise<TrainingResult> {
  registerGroup(GROUP, group);
  try {
    return await train();
  } finally {
    unregisterGroup(GROUP);
    group.isDestroyed = true;
  }
}

/** One rank per thread. Each finds its own group under the one name. */
export async function trainOnThreads(): Promise<TrainingResult[]> {
  setThreadIsolation(true);
  const rendezvous = new Rendezvous(RANKS);
  const ranks = Array.from(
    { length: RANKS },
    (_, r) =>
      rank.run(r, () => fork(() => beRank(Group.at(rendezvous, r, RANKS)), { name: `rank ${r}` })),
  );
  try {
    return await Promise.all(ranks);
  } finally {
    setThreadIsolation(false);
  }
}

/** A pool whose workers are ranks, or compute kernels. */
export function openWorkers(count: number) {
  const file = new URL("./rank_worker.ts", import.meta.url);
  return threadLocalPool(new FixedThreadPool<unknown, unknown>(count, file));
}

/** One rank per worker. The rank's number goes there with the state. */
export async function trainOnWorkers(): Promise<TrainingResult[]> {
  const rendezvous = new Rendezvous(RANKS);
  const pool = openWorkers(RANKS);
  const channels = Array.from({ length: RANKS }, () => new MessageChannel());
  const ranks = channels.map(({ port1, port2: port }, r) => {
    expose(rendezvous, port1);
    const task: RankTask = { size: RANKS, port };
    return rank.run(r, () => pool.execute(task, "train", undefined, [port]));
  });
  try {
    return await Promise.all(ranks) as TrainingResult[];
  } finally {
    for (const { port1 } of channels) port1.close();
    await pool.destroy();
  }
}
