import { assertEquals } from "@std/assert";
import { detached, onMisuse, scoped } from "@thread-local/core";
import { DispatchKeySet, LocalDispatchKeys } from "@thread-local/core/guards";
import fc from "fast-check";
import {
  asyncProgram,
  type GuardSpec,
  type Model,
  readModel,
  type Step,
  syncProgram,
} from "./guard_programs.ts";

class Thrown extends Error {}

function check(model: Model): void {
  assertEquals(readModel(), model);
}

/** Opens all, closes them in the given order: what is visible is made of those still open. */
function runOverlap(guards: readonly GuardSpec[], order: readonly number[], outside: Model): void {
  const open = new Set(guards.keys());
  const visible = () => [...open].reduce((model, at) => guards[at].apply(model), outside);
  const close = guards.map(({ create }) => {
    const guard = create();
    const dispose = guard[Symbol.dispose];
    return () => dispose.call(guard);
  });
  check(visible());
  for (const at of order) {
    close[at]();
    open.delete(at);
    check(visible());
  }
}

/** The model is threaded explicitly: it goes in, and comes out as the steps leave it. */
function runSync(steps: readonly Step[], model: Model, keep: (model: Model) => void): void {
  for (const step of steps) {
    switch (step.kind) {
      case "include":
      case "exclude": {
        const side = step.kind === "include" ? "included" : "excluded";
        const { slot } = LocalDispatchKeys;
        const key = DispatchKeySet.of(step.key);
        slot.set(slot.get().with({ [side]: slot.get()[side].union(key) }));
        model = { ...model, [side]: model[side].union(new Set([step.key])) };
        break;
      }
      case "overlap":
        runOverlap(step.guards, step.order, model);
        break;
      case "throw":
        keep(model);
        throw new Thrown();
      case "catch":
        try {
          runSync(step.body, model, (left) => model = left);
        } catch (error) {
          if (!(error instanceof Thrown)) throw error;
        }
        break;
      case "run":
        try {
          step.guard.run(() => runSync(step.body, step.guard.apply(model), () => {}));
        } catch (error) {
          keep(model);
          throw error;
        }
        break;
      case "block": {
        const before = model;
        let inside = step.guard.apply(before);
        try {
          using _ = step.guard.create();
          check(inside);
          runSync(step.body, inside, (left) => inside = left);
        } catch (error) {
          keep(step.guard.undo(before, inside));
          throw error;
        }
        model = step.guard.undo(before, inside);
      }
    }
    check(model);
  }
  keep(model);
}

async function runAsync(steps: readonly Step[], model: Model): Promise<void> {
  for (const step of steps) {
    switch (step.kind) {
      case "await":
        await Promise.resolve();
        break;
      case "timer":
        await new Promise((resolve) => setTimeout(resolve));
        break;
      case "overlap":
        runOverlap(step.guards, step.order, model);
        break;
      case "throw":
        throw new Thrown();
      case "catch":
        await runAsync(step.body, model).catch((error) => {
          if (!(error instanceof Thrown)) throw error;
        });
        break;
      case "run":
        await step.guard.run(() => runAsync(step.body, step.guard.apply(model)));
        break;
      case "rest":
        await (async () => {
          using _ = await step.guard.enter();
          check(step.guard.apply(model));
          await runAsync(step.body, step.guard.apply(model));
        })();
        break;
      case "all": {
        const flows = step.bodies.map((body) => runAsync(body, model));
        check(model);
        // All of them, so that none outlives the program.
        const failed = (await Promise.allSettled(flows)).find(({ status }) =>
          status === "rejected"
        );
        if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
      }
    }
    check(model);
  }
}

function unlessThrown(error: unknown): void {
  if (!(error instanceof Thrown)) throw error;
}

Deno.test("PyTorch's guards agree with plain values over programs of one turn", () => {
  // The overlaps are misuse, and are meant.
  using _ = onMisuse(() => {});
  const outside = detached(readModel);

  fc.assert(
    fc.property(syncProgram, (program) => {
      detached(() => {
        try {
          scoped(() => runSync(program, outside, () => {}));
        } catch (error) {
          unlessThrown(error);
        }
        check(outside);
      });
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("PyTorch's guards agree with plain values over programs of many flows", async () => {
  using _ = onMisuse(() => {});
  const outside = detached(readModel);

  await fc.assert(
    fc.asyncProperty(asyncProgram, async (program) => {
      await detached(async () => {
        await runAsync(program, outside).catch(unlessThrown);
        check(outside);
      });
    }),
    { numRuns: 300 },
  );
});
