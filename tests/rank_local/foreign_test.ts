import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  endForeignThread,
  fork,
  Node,
  type NodeWire,
  onMisuse,
  RankLocal,
  ThreadLocal,
} from "@thread-local/core";

const user = new ThreadLocal("foreign_test.user", { initial: "nobody", wire: true });
const secret = new ThreadLocal("foreign_test.secret", { initial: "none" });

/** What a node of thread `number` of worker 7 is on the wire. */
function wireOf(number: number, name = "mul"): NodeWire {
  return {
    version: 1,
    name,
    thread: { id: String((7n << 48n) | BigInt(number)), name: `rank ${number}` },
    state: { version: 1, bindings: [["foreign_test.user", "ann"]] },
  };
}

/** Awaits what a timer that does not keep the process alive will bring about. */
async function awake<T>(event: Promise<T>): Promise<T> {
  const anchor = setInterval(() => {}, 1_000);
  try {
    return await event;
  } finally {
    clearInterval(anchor);
  }
}

Deno.test("Node.fromWire() evaluates in the state of the wire, with the node as current", async () => {
  const node = Node.fromWire(wireOf(1), (x: number) => [user.get(), x]);

  assertEquals(node.evaluate(2), ["ann", 2]);
  assertEquals([node.name, node.forwardThread.name], ["mul", "rank 1"]);
  await endForeignThread(node.forwardThread.id);
});

Deno.test("Node.fromWire() finds one instance for all nodes of one foreign thread", async () => {
  const local = new RankLocal("foreign_test.one", () => ({}));

  const [a, b, other] = [wireOf(2, "a"), wireOf(2, "b"), wireOf(3)].map((wire) =>
    Node.fromWire(wire, () => local.get()).evaluate()
  );

  assertStrictEquals(a, b);
  assertNotStrictEquals(a, other);
  assertEquals([...local].map(([thread]) => thread.id), [(7n << 48n) | 2n, (7n << 48n) | 3n]);
  assertEquals(await endForeignThread((7n << 48n) | 2n), true);
  assertEquals(await endForeignThread((7n << 48n) | 3n), true);
  assertEquals(await endForeignThread((7n << 48n) | 3n), false);
  assertEquals(local.size, 0);
});

Deno.test("Node.toWire() carries name, thread and the slots with wire, as JSON", async () => {
  const node = await user.run(
    "bob",
    () => secret.run("s", () => fork(() => new Node("mul", () => {}), { name: "rank 5" })),
  );

  const wire = JSON.parse(JSON.stringify(node.toWire()));

  assertEquals(wire, {
    version: 1,
    name: "mul",
    thread: { id: String(node.forwardThread.id), name: "rank 5" },
    state: { version: 1, bindings: [["foreign_test.user", "bob"]] },
  });
});

Deno.test("A node that comes home finds the thread that made it", async () => {
  const local = new RankLocal("foreign_test.home", () => ({}));
  const [own, node] = await fork(() => [local.get(), new Node("n", () => {})] as const);

  const home = Node.fromWire(node.toWire(), () => local.get());

  assertStrictEquals(home.evaluate(), own);
  assertStrictEquals(home.forwardThread, node.forwardThread);
});

Deno.test("A foreign thread's instances are disposed when its lease ends", async () => {
  const disposed = Promise.withResolvers<string>();
  const local = new RankLocal("foreign_test.lease", () => ({
    [Symbol.dispose]: () => disposed.resolve("disposed"),
  }));

  Node.fromWire(wireOf(4), () => local.get(), { leaseMs: 1 }).evaluate();

  assertEquals(await awake(disposed.promise), "disposed");
  assertEquals(local.size, 0);
});

Deno.test("A foreign thread that is used again is a new one after its lease", async () => {
  const disposed = Promise.withResolvers<void>();
  const local = new RankLocal("foreign_test.renewed", () => ({
    [Symbol.dispose]: () => disposed.resolve(),
  }));
  const first = Node.fromWire(wireOf(5), () => local.get(), { leaseMs: 1 }).evaluate();
  await awake(disposed.promise);

  const second = Node.fromWire(wireOf(5), () => local.get()).evaluate();

  assertNotStrictEquals(second, first);
  await endForeignThread((7n << 48n) | 5n);
});

Deno.test("A foreign thread whose node was sent on is a new one after its end, not the ended one", async () => {
  const local = new RankLocal("foreign_test.sent_on", () => ({}));
  const held = Node.fromWire(wireOf(6), () => local.get());
  await endForeignThread((7n << 48n) | 6n);
  held.toWire();

  const again = Node.fromWire(wireOf(6), () => local.get());

  assertEquals(again.evaluate(), {});
  await endForeignThread((7n << 48n) | 6n);
});

Deno.test("Node.toWire() makes what Node.fromWire() takes, however long the names are", async () => {
  const long = "n".repeat(5_000);
  const wire = await fork(() => new Node(long, () => {}).toWire(), { name: long });

  const home = Node.fromWire(wire, () => 1);

  assertEquals(home.name, long.slice(0, 1_024));
});

Deno.test("Node.fromWire() holds at most 10,000 foreign threads", async () => {
  const nodes = Array.from({ length: 10_000 }, (_, i) => Node.fromWire(wireOf(100 + i), () => {}));

  assertThrows(() => Node.fromWire(wireOf(99), () => {}), RangeError, "10000");

  for (const { forwardThread } of nodes) await endForeignThread(forwardThread.id);
});

const valid = wireOf(6);
const hostile: Record<string, unknown> = {
  "nothing": undefined,
  "null": null,
  "a number": 3,
  "another version": { ...valid, version: 2 },
  "no name": { ...valid, name: undefined },
  "a long name": { ...valid, name: "x".repeat(1_025) },
  "no thread": { ...valid, thread: undefined },
  "a thread without name": { ...valid, thread: { id: "1" } },
  "an id of zero": { ...valid, thread: { id: "0", name: "t" } },
  "a negative id": { ...valid, thread: { id: "-1", name: "t" } },
  "an id of 65 bits": { ...valid, thread: { id: String(2n ** 64n), name: "t" } },
  "an id that is code": { ...valid, thread: { id: "1n; alert(1)", name: "t" } },
  "a bigint id": { ...valid, thread: { id: 1n, name: "t" } },
};
for (const [what, wire] of Object.entries(hostile)) {
  Deno.test(`Node.fromWire() refuses ${what}, and keeps nothing`, () => {
    assertThrows(() => Node.fromWire(wire, () => {}), TypeError, "Cannot read a node's wire");
  });
}

Deno.test("Node.fromWire() evaluates with initial values if only the state is bad", async () => {
  const kinds: string[] = [];
  using _ = onMisuse(({ kind }) => kinds.push(kind));

  const node = Node.fromWire({ ...valid, state: "nonsense" }, () => user.get());

  assertEquals(node.evaluate(), "nobody");
  assert(kinds.includes("wire-rejected"));
  await endForeignThread(node.forwardThread.id);
});

Deno.test("Node.fromWire() refuses a lease that is no time", () => {
  for (const leaseMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    assertThrows(() => Node.fromWire(valid, () => {}, { leaseMs }), RangeError, "lease");
  }
});
