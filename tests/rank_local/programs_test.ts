import { assert, assertStrictEquals } from "@std/assert";
import { currentNode, currentThread, fork, Node, RankLocal } from "@thread-local/core";
import fc from "fast-check";

/** Random trees of threads, nodes and evaluations. */
type Step =
  | { readonly kind: "get"; readonly local: number }
  | { readonly kind: "await" }
  | { readonly kind: "fork"; readonly steps: Step[] }
  | { readonly kind: "node"; readonly steps: Step[] }
  | { readonly kind: "evaluate"; readonly node: number };

const LOCALS = 3;
const MOST_EVALUATIONS = 30;

const { program } = fc.letrec<{ step: Step; program: Step[] }>((tie) => ({
  program: fc.array(tie("step"), { maxLength: 6 }),
  step: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ kind: fc.constant("get" as const), local: fc.nat(LOCALS - 1) }),
    fc.record({ kind: fc.constant("evaluate" as const), node: fc.nat(9) }),
    fc.record({ kind: fc.constant("await" as const) }),
    fc.record({ kind: fc.constant("fork" as const), steps: tie("program") }),
    fc.record({ kind: fc.constant("node" as const), steps: tie("program") }),
  ),
}));

/** What the reference knows: who owns the work is passed along by hand. */
interface Place {
  readonly owner: symbol;
  readonly thread: symbol;
  readonly node: Node<[Place], Promise<void>> | undefined;
}

const locals = Array.from(
  { length: LOCALS },
  (_, i) => new RankLocal(`programs_test.${i}`, () => ({ createdBy: currentThread().id })),
);

class Run {
  readonly #reference = new Map<symbol, object[]>();
  readonly #ids = new Map<symbol, bigint>();
  readonly #nodes: { readonly node: Node<[Place], Promise<void>>; readonly owner: symbol }[] = [];
  #evaluations = 0;

  async steps(steps: readonly Step[], at: Place): Promise<void> {
    const forks: Promise<void>[] = [];
    for (const step of steps) {
      this.#check(at);
      if (step.kind === "get") this.#get(step.local, at);
      else if (step.kind === "await") await Promise.resolve();
      else if (step.kind === "fork") forks.push(this.#fork(step.steps));
      else if (step.kind === "node") this.#node(step.steps, at);
      else await this.#evaluate(step.node, at);
    }
    await Promise.all(forks);
    this.#check(at);
  }

  #check({ thread, node }: Place): void {
    const id = currentThread().id;
    assertStrictEquals(this.#ids.get(thread) ?? id, id);
    this.#ids.set(thread, id);
    assertStrictEquals(currentNode(), node);
  }

  #get(local: number, { owner }: Place): void {
    const instances = this.#reference.get(owner) ?? [];
    this.#reference.set(owner, instances);
    const instance = locals[local].get();
    assertStrictEquals(instance, instances[local] ?? instance);
    assert(instance.createdBy === (this.#ids.get(owner) ?? instance.createdBy));
    for (const [other, { [local]: theirs }] of this.#reference) {
      assert(other === owner || theirs !== instance);
    }
    instances[local] = instance;
  }

  #fork(steps: readonly Step[]): Promise<void> {
    const thread = Symbol();
    return fork(() => this.steps(steps, { owner: thread, thread, node: undefined }));
  }

  #node(steps: readonly Step[], { owner }: Place): void {
    const node: Node<[Place], Promise<void>> = new Node("n", (at) => this.steps(steps, at));
    this.#nodes.push({ node, owner });
  }

  async #evaluate(index: number, { thread }: Place): Promise<void> {
    if (this.#nodes.length === 0 || ++this.#evaluations > MOST_EVALUATIONS) return;
    const { node, owner } = this.#nodes[index % this.#nodes.length];
    await node.evaluate({ owner, thread, node });
  }
}

Deno.test("RankLocal finds what a reference map keyed by forward thread finds, in 10,000 random trees", async () => {
  await fc.assert(
    fc.asyncProperty(program, async (steps) => {
      const root = Symbol();
      await fork(() => new Run().steps(steps, { owner: root, thread: root, node: undefined }));
    }),
    { numRuns: 10_000 },
  );
});
