import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { currentThread, fork, Node, RankLocal } from "@thread-local/core";
import { atMost, type Case, fasterBy, nanosecondsAtMost, type Row } from "../harness/row.ts";

interface Instance {
  readonly value: number;
}

let value = 0;
const create = (): Instance => ({ value: ++value });

const local = new RankLocal("bench.rank_local", create, { shared: true });

/** Begins so many threads, each with its instance, that live as long as they are held. */
async function begin(count: number): Promise<unknown[]> {
  const begun = () => [currentThread(), local.get()];
  return await Promise.all(Array.from({ length: count }, () => fork(begun)));
}

const get = (threads: number): Case => async (meter) => {
  const held = await begin(threads - 1);
  await fork(() => {
    local.get();
    meter.time(() => local.get());
  });
  if (held.length !== threads - 1) throw new Error("unreachable: holds the threads until here");
};

/** On a thread that has an instance of its own. */
const getInside = (threads: number): Case => async (meter) => {
  const held = await begin(threads - 2);
  const node = await fork(() => {
    local.get(); // Before the loop, as in the baseline: storing what was made in it costs more.
    return new Node("bench", () => meter.time(() => local.get()));
  });
  await fork(() => {
    local.get();
    node.evaluate();
  });
  if (held.length !== threads - 2) throw new Error("unreachable: holds the threads until here");
};

const rawGet: Case = (meter) => {
  const als = new AsyncLocalStorage<Instance>();
  return als.run({ value: 1 }, () => meter.time(() => als.getStore()));
};

/** What C++ keeps in three `thread_local`s, in one object. */
interface TorchThread {
  readonly id: number;
  readonly node: { readonly forwardThreadId: number } | undefined;
  cached: Instance | undefined;
}

/** PyTorch's algorithm, faults and all; JavaScript needs no lock for it. */
class TorchRankLocal {
  readonly threads = new AsyncLocalStorage<TorchThread>();
  private readonly byThread = new Map<number, Instance>();

  get(): Instance {
    const thread = this.threads.getStore()!;
    if (thread.cached !== undefined) return thread.cached;
    const { node } = thread;
    const id = node === undefined ? thread.id : node.forwardThreadId;
    let instance = this.byThread.get(id);
    if (instance === undefined) this.byThread.set(id, instance = create());
    if (node === undefined) thread.cached = instance;
    return instance;
  }
}

/** With so many threads, the first of which is the forward thread of the node. */
const torch = (threads: number, inside: boolean): Case => (meter) => {
  const torch = new TorchRankLocal();
  const begin = (id: number, node?: TorchThread["node"]) => ({ id, node, cached: undefined });
  for (let id = 1; id < threads; id++) torch.threads.run(begin(id), () => torch.get());
  const thread = begin(threads, inside ? { forwardThreadId: 1 } : undefined);
  return torch.threads.run(thread, () => {
    torch.get();
    return meter.time(() => torch.get());
  });
};

const FRESH = 1_000;

/** Threads that are begun and let go, a turn for every thousand: a turn keeps what it refers to weakly. */
const fresh = (body: () => Instance): Case => (meter) =>
  meter.timeAsync(async () => {
    for (let count = 0; count < FRESH; count++) fork(body);
    await setImmediate();
  });

const firstGet = fresh(() => local.get());
const firstCreate = fresh(create);

const MANY = 10_000;

/** The lines of the table for what belongs to a logical thread. */
export const rows: readonly Row[] = [
  { what: "RankLocal.get() / getStore()", ours: get(1), raw: rawGet, limit: atMost(1.25) },
  {
    what: "RankLocal.get() inside a node / getStore()",
    ours: getInside(2),
    raw: rawGet,
    limit: atMost(1.25),
  },
  {
    what: "RankLocal.get(), 10,000 threads / 1 thread",
    ours: get(MANY),
    raw: get(1),
    limit: atMost(1.1),
  },
  {
    what: "RankLocal.get() in a node, 10,000 / 2 threads",
    ours: getInside(MANY),
    raw: getInside(2),
    limit: atMost(1.1),
  },
  {
    what: "RankLocal.get() / PyTorch's algorithm",
    ours: get(MANY),
    raw: torch(MANY, false), // Its cached pointer: what makes it wrong in a node.
    limit: atMost(1.5),
  },
  {
    what: "RankLocal.get() in a node / PyTorch's",
    ours: getInside(MANY),
    raw: torch(MANY, true),
    limit: fasterBy(1),
  },
  {
    what: "first RankLocal.get() of a thread − create()",
    ours: firstGet,
    raw: firstCreate,
    limit: nanosecondsAtMost(1_000),
    perCall: FRESH,
  },
];
