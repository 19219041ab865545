// PyTorch's algorithm beside ours, in the three cases that it gets wrong.
import { fork, Node, RankLocal } from "@thread-local/core";
import { assertEquals, assertThrows } from "@std/assert";

/** What C++ keeps in `thread_local`s: the thread's id, the node in hand, and the cached pointer. */
interface TorchThread {
  readonly id: number;
  node: { readonly forwardThreadId: number } | undefined;
  cached: object | undefined;
}

/** `c10d::RankLocal`: a pointer cached in each thread, else a map under a lock that is not reentrant. */
class TorchRankLocal {
  readonly byThread = new Map<number, object>();
  private locked = false;

  get(thread: TorchThread): object {
    if (thread.cached !== undefined) return thread.cached;
    const id = thread.node?.forwardThreadId ?? thread.id;
    const instance = this.lock(() => {
      if (!this.byThread.has(id)) this.byThread.set(id, {});
      return this.byThread.get(id)!;
    });
    if (thread.node === undefined) thread.cached = instance;
    return instance;
  }

  findAcrossAll(predicate: (instance: object) => boolean): object | undefined {
    return this.lock(() => this.byThread.values().find(predicate));
  }

  private lock<R>(fn: () => R): R {
    if (this.locked) throw new Error("deadlock");
    this.locked = true;
    try {
      return fn();
    } finally {
      this.locked = false;
    }
  }
}

function torchThread(id: number): TorchThread {
  return { id, node: undefined, cached: undefined };
}

Deno.test("RankLocal.get() finds the forward rank's instance where PyTorch's cache hides it", async () => {
  const torch = new TorchRankLocal();
  const [forward, engine] = [torchThread(1), torchThread(2)];
  const [torchForward, torchEngine] = [torch.get(forward), torch.get(engine)];
  const local = new RankLocal("mend_test.node first", () => ({}));
  const [own, node] = await fork(() => [local.get(), new Node("n", () => local.get())] as const);

  engine.node = { forwardThreadId: forward.id };
  const inTorchNode = torch.get(engine);
  const inNode = await fork(() => (local.get(), node.evaluate()));

  assertEquals([inTorchNode === torchForward, inTorchNode === torchEngine], [false, true]);
  assertEquals(inNode === own, true);
});

Deno.test("RankLocal lets go of an ended thread's instance where PyTorch's map keeps it", async () => {
  const torch = new TorchRankLocal();
  const local = new RankLocal("mend_test.ended", () => ({}));

  torch.get(torchThread(1)); // which ends here
  const thread = await fork(() => {
    local.get();
    return [...local][0][0];
  });
  await thread.end();

  assertEquals(torch.byThread.size, 1);
  assertEquals(local.size, 0);
});

Deno.test("RankLocal.findAcrossAll() whose callback creates an instance ends where PyTorch's does not", async () => {
  const torch = new TorchRankLocal();
  torch.get(torchThread(1));
  const local = new RankLocal("mend_test.find", () => ({}));
  await fork(() => local.get());

  const find = () => local.findAcrossAll(() => local.get() === undefined);

  assertThrows(() => torch.findAcrossAll(() => !torch.get(torchThread(2))), Error, "deadlock");
  assertEquals([find(), local.size], [undefined, 2]);
});
