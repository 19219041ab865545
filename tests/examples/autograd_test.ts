import { assert, assertAlmostEquals, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fork, NoGradGuard, RankLocal } from "@thread-local/core";
import { backward, gradients } from "../../examples/autograd/engine.ts";
import {
  DestroyedGroupError,
  DuplicateGroupError,
  registerGroup,
  resolveGroup,
  setThreadIsolation,
  UnknownGroupError,
  unregisterGroup,
} from "../../examples/autograd/groups.ts";
import { Group, Rendezvous } from "../../examples/autograd/collective.ts";
import * as ops from "../../examples/autograd/ops.ts";
import { record, Tensor } from "../../examples/autograd/tensor.ts";
import { runExample } from "./run_example.ts";

const STEP = 1e-5;

/** Values away from 0, where `log` and `div` are steep and `relu` has its kink. */
function leaf(rows: number, columns: number, first = 0.5): Tensor {
  const data = Float64Array.from({ length: rows * columns }, (_, i) => first + 0.3 * i);
  return new Tensor(rows, columns, data, true);
}

function assertClose(actual: Float64Array, expected: ArrayLike<number>): void {
  assertEquals(actual.length, expected.length);
  actual.forEach((value, i) => assertAlmostEquals(value, expected[i], 1e-6));
}

/** The slope of `fn` in each number of `input`, by central differences. */
async function slopes(input: Tensor, fn: () => Tensor | Promise<Tensor>): Promise<number[]> {
  const found: number[] = [];
  for (const index of input.data.keys()) {
    const at = input.data[index];
    input.data[index] = at + STEP;
    const above = (await fn()).item();
    input.data[index] = at - STEP;
    const below = (await fn()).item();
    input.data[index] = at;
    found.push((above - below) / (2 * STEP));
  }
  return found;
}

const operators: Record<string, (x: Tensor, y: Tensor) => Tensor> = {
  add: ops.add,
  sub: ops.sub,
  mul: ops.mul,
  div: ops.div,
  scale: (x) => ops.scale(x, -3),
  exp: (x) => ops.exp(x),
  log: (x) => ops.log(x),
  tanh: (x) => ops.tanh(x),
  relu: (x) => ops.relu(ops.sub(x, Tensor.full(x.rows, x.columns, 0.9))),
  transpose: (x) => ops.transpose(x),
  matmul: (x, y) => ops.matmul(x, ops.transpose(y)),
  sumColumns: (x) => ops.sumColumns(x),
  sumRows: (x) => ops.sumRows(x),
  repeatRow: (x) => ops.repeatRow(ops.sumRows(x), 3),
  repeatColumn: (x) => ops.repeatColumn(ops.sumColumns(x), 3),
  crossEntropy: (x) => ops.crossEntropy(x, Tensor.of([[1, 0, 0], [0, 0, 1]])),
};

for (const [name, operator] of Object.entries(operators)) {
  const x = leaf(2, 3);
  const y = leaf(2, 3, 1.1);
  // Squared, so that the second derivative is not 0.
  const value = () => {
    const result = operator(x, y);
    return ops.sum(ops.mul(result, result));
  };

  Deno.test(`autograd: the gradient of ${name} is that of central differences`, async () => {
    const found = await gradients(value());

    assertClose(found.get(x)!.data, await slopes(x, value));
    if (found.has(y)) assertClose(found.get(y)!.data, await slopes(y, value));
  });

  Deno.test(`autograd: the gradient of ${name} can be differentiated again`, async () => {
    const slope = async () => {
      const found = await gradients(value(), { createGraph: true });
      const gradient = found.get(x)!;
      return ops.sum(ops.mul(gradient, gradient));
    };

    const second = (await gradients(await slope())).get(x)!;

    const expected = await slopes(x, slope);
    second.data.forEach((v, i) =>
      assert(Math.abs(v - expected[i]) <= 1e-6 * Math.max(1, Math.abs(expected[i])))
    );
  });
}

Deno.test("autograd: without createGraph the backward pass is not recorded", async () => {
  const x = leaf(1, 1);

  const [gradient] = (await gradients(ops.mul(x, x))).values();

  assertEquals(gradient.history, undefined);
});

Deno.test("autograd: nothing is recorded under NoGradGuard", async () => {
  const x = leaf(1, 1);

  const y = NoGradGuard.run(() => ops.mul(x, x));

  await assertRejects(() => backward(y), TypeError, "no tensor below requires gradients");
});

Deno.test("autograd: ten concurrent backward passes add up exactly", async () => {
  const x = leaf(4, 4);
  const one = (await gradients(ops.sum(ops.mul(x, x)))).get(x)!;

  await Promise.all(
    Array.from({ length: 10 }, () => fork(() => backward(ops.sum(ops.mul(x, x))))),
  );

  const expected = one.data.map((value) => {
    let sum = 0;
    for (let i = 0; i < 10; i++) sum += value;
    return sum;
  });
  assertEquals(x.grad!.data, expected);
});

Deno.test("autograd: a backward node on the engine's thread finds its forward thread's instance", async () => {
  const visits = new RankLocal("autograd_test.visits", () => [] as string[]);
  const visited = (x: Tensor, name: string) =>
    record("visit", new Tensor(x.rows, x.columns, x.data), [x], (gradient) => {
      visits.get().push(name);
      return [gradient];
    });

  const seen = await Promise.all(["a", "b", "c"].map((name) =>
    fork(async () => {
      await backward(visited(leaf(1, 1), name));
      return visits.get();
    })
  ));

  assertEquals(seen, [["a"], ["b"], ["c"]]);
});

const group = (rank: number) => Group.at(new Rendezvous(1), rank, 1);

Deno.test("groups: with isolation off, registered once and found from every thread", async () => {
  setThreadIsolation(false);
  const world = group(0);
  registerGroup("off", world);

  const found = await fork(() => resolveGroup("off"));

  assertEquals(found, world);
  unregisterGroup("off");
});

Deno.test("groups: with isolation on, each rank registers the same name, and a backward node finds the forward rank's", async () => {
  setThreadIsolation(true);

  const ranks = await Promise.all([0, 1].map((rank) =>
    fork(async () => {
      const own = group(rank);
      registerGroup("on", own);
      const { promise, resolve } = Promise.withResolvers<number>();
      const x = leaf(1, 1);
      await backward(record("ask", new Tensor(1, 1, x.data), [x], (gradient) => {
        resolve(resolveGroup("on").rank);
        return [gradient];
      }));
      return [own.rank, await promise];
    })
  ));

  setThreadIsolation(false);
  assertEquals(ranks, [[0, 0], [1, 1]]);
});

Deno.test("groups: a name registered twice, an unknown and a destroyed one are three errors", () => {
  const destroyed = group(0);
  registerGroup("destroyed", destroyed);

  assertThrows(() => registerGroup("destroyed", destroyed), DuplicateGroupError, '"destroyed"');
  assertThrows(() => resolveGroup("unknown"), UnknownGroupError, '"unknown"');
  destroyed.isDestroyed = true;
  assertThrows(() => resolveGroup("destroyed"), DestroyedGroupError, '"destroyed"');
  unregisterGroup("destroyed");
});

Deno.test("autograd: the example learns, and alike on threads and on workers", async () => {
  const example = await runExample("autograd/main.ts");

  assertEquals([example.code, example.stderr], [0, ""]);
  const accuracies = [...example.stdout.matchAll(/([\d.]+) % of unseen flowers right/g)];
  assertEquals(accuracies.length, 2);
  assert(accuracies.every(([, percent]) => Number(percent) >= 93));
  const [, apart] = /loss curves differ by (\S+) at most/.exec(example.stdout)!;
  assert(Number(apart) <= 1e-9);
});
