import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { currentNode, currentThread, fork, Node, ThreadLocal } from "@thread-local/core";
import { starts } from "../fixtures/starts.ts";

const user = new ThreadLocal("node_test.user", { initial: "nobody" });
const gradMode = new ThreadLocal("node_test.gradMode", { initial: true });

starts("Node.evaluate() runs in the state of where the node was made", async () => {
  const node = await user.run("ann", () => fork(() => new Node("n", () => user.get())));

  const seen = await user.run("bob", () => fork(() => node.evaluate()));

  assertEquals(seen, "ann");
});

Deno.test("Node.evaluate() keeps the state across await, whoever evaluates", async () => {
  const node = user.run("ann", () =>
    new Node("n", async () => {
      await Promise.resolve();
      return [user.get(), currentNode()?.name];
    }));

  const seen = await user.run("bob", () => node.evaluate());

  assertEquals(seen, ["ann", "n"]);
});

Deno.test("Node.evaluate() passes arguments, result and throw through", () => {
  const node = new Node("n", (a: number, b: number) => {
    if (b === 0) throw new RangeError("by zero");
    return a / b;
  });

  assertEquals(node.evaluate(6, 3), 2);
  assertThrows(() => node.evaluate(1, 0), RangeError, "by zero");
  assertEquals(currentNode(), undefined);
});

Deno.test("Node.evaluate() leaves the evaluator's state as it was, whatever the work binds", () => {
  const node = new Node("n", () => user.set("left behind"));

  node.evaluate();

  assertEquals(user.get(), "nobody");
});

Deno.test("currentThread() inside a node is the evaluating thread", async () => {
  const node = await fork(() => new Node("n", () => currentThread().name), { name: "forward" });

  const name = await fork(() => node.evaluate(), { name: "engine" });

  assertEquals([name, node.forwardThread.name], ["engine", "forward"]);
});

Deno.test("currentNode() is the innermost node, and the outer one again after it", () => {
  const inner = new Node("inner", () => currentNode());
  const outer = new Node("outer", () => [currentNode(), inner.evaluate(), currentNode()]);

  const seen = outer.evaluate();

  assertEquals(seen, [outer, inner, outer]);
});

Deno.test("A node made inside a node belongs to the outer node's forward thread", async () => {
  const outer = await fork(() => new Node("outer", () => new Node("inner", () => {})), {
    name: "forward",
  });

  const inner = await fork(() => outer.evaluate(), { name: "engine" });

  assertEquals(inner.forwardThread.name, "forward");
});

Deno.test("Node.evaluateWith() binds over the node's state, for that evaluation only", () => {
  const node = user.run("ann", () => new Node("n", () => [user.get(), gradMode.get()]));

  const overridden = node.evaluateWith({ with: [[gradMode, false]] });

  assertEquals(overridden, ["ann", false]);
  assertEquals(node.evaluate(), ["ann", true]);
});

Deno.test("Node.evaluateWith() refuses what is no slot, before any work", () => {
  let ran = false;
  const node = new Node("n", () => ran = true);

  assertThrows(() => node.evaluateWith({ with: [[{} as typeof gradMode, false]] }), TypeError);

  assertEquals(ran, false);
});

Deno.test("Node refuses a function that is none", () => {
  assertThrows(() => new Node("n", undefined as never), TypeError, "function");
  assertThrows(() => new Node(3 as never, () => {}), TypeError, "name");
});

Deno.test("A node may be evaluated by many threads at once", async () => {
  const node = await user.run("ann", () =>
    fork(() =>
      new Node("n", async (i: number) => {
        await Promise.resolve();
        return `${user.get()} ${i}`;
      })
    ));

  const seen = await Promise.all(
    [0, 1, 2].map((i) => user.run(`u${i}`, () => fork(() => node.evaluate(i)))),
  );

  assertEquals(seen, ["ann 0", "ann 1", "ann 2"]);
});

Deno.test("Node.state is the state of where the node was made", () => {
  const node = user.run("ann", () => new Node("n", () => {}));

  assertStrictEquals(node.state.get(user), "ann");
});
