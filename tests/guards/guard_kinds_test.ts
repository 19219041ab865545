import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { detached, saveThreadLocalState, ThreadLocal } from "@thread-local/core";
import {
  AutoFwGradMode,
  AutoGradMode,
  AutogradState,
  DebugInfoGuard,
  DebugInfoKind,
  ExcludeDispatchKeyGuard,
  IncludeDispatchKeyGuard,
  InferenceMode,
  LocalDispatchKeys,
  onMisuse,
  ThreadLocalDebugInfo,
} from "@thread-local/core/guards";
import { guardKinds } from "./guard_kinds.ts";

const other = new ThreadLocal("guard_kinds_test.other", { initial: 0 });

/** The three frames that a guard may start from. */
const starts: Record<string, <R>(fn: () => R) => R> = {
  "no frame": (fn) => detached(fn),
  "a nested frame": (fn) => other.run(1, () => other.run(2, fn)),
  "a restored frame": (fn) => other.run(3, saveThreadLocalState).run(fn),
};

for (const { name, create, enter, run, around, read, outside, inside } of guardKinds) {
  for (const [start, from] of Object.entries(starts)) {
    Deno.test(`${name} binds for a block, from ${start}`, () => {
      from(() =>
        around(() => {
          {
            using _ = create();

            assertEquals(read(), inside);
          }
          assertEquals(read(), outside);
        })
      );
    });

    Deno.test(`${name}.enter() binds for the rest of an async function, from ${start}`, async () => {
      await from(() =>
        around(async () => {
          const entered = async () => {
            using _ = await enter();
            await Promise.resolve();
            return read();
          };
          const sibling = async () => {
            await Promise.resolve();
            await Promise.resolve();
            return read();
          };

          const seen = Promise.all([entered(), sibling()]);

          assertEquals(read(), outside);
          assertEquals(await seen, [inside, outside]);
          assertEquals(read(), outside);
        })
      );
    });

    Deno.test(`${name}.run() binds for a function and what it starts, from ${start}`, async () => {
      await from(() =>
        around(async () => {
          const later = run(async () => {
            await Promise.resolve();
            return read();
          });

          assertEquals(read(), outside);
          assertEquals(await later, inside);
        })
      );
    });
  }

  Deno.test(`${name} does nothing without using`, () => {
    around(() => {
      create();

      assertEquals(read(), outside);
    });
  });

  Deno.test(`${name} leaves its slots unbound where they were unbound`, () => {
    detached(() => {
      const before = saveThreadLocalState();
      {
        using _ = create();
        other.set(1); // not the guard's own frame any more
      }
      other.clear();

      assertEquals(saveThreadLocalState().size, before.size);
    });
  });

  Deno.test(`${name} unbinds after a throw`, () => {
    around(() => {
      const fail = () => {
        using _ = create();
        throw new Error("from inside");
      };

      assertThrows(fail, Error, "from inside");

      assertEquals(read(), outside);
    });
  });

  Deno.test(`${name} that crosses an await is reported with its creation`, async () => {
    const kinds: unknown[] = [];
    using _ = onMisuse(({ kind, stack }) => kinds.push([kind, stack?.includes("guard_kinds.ts")]));

    // In a flow of its own: what such a guard binds may stay.
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(async () => {
      using _ = create();
      await Promise.resolve();
      resolve();
    });
    await promise;

    assertEquals(kinds, [["guard-across-await", true]]);
  });

  Deno.test(`${name}.run() rejects what is not a function`, () => {
    assertThrows(() => run("no function" as never), TypeError, "expected a function");
  });
}

Deno.test("AutoGradMode, AutoFwGradMode and InferenceMode reject what is not a boolean", async () => {
  for (const guard of [AutoGradMode, AutoFwGradMode, InferenceMode]) {
    assertThrows(() => new guard(1 as never), TypeError, "expected true or false, got number");
    await assertRejects(() => guard.enter(null as never), TypeError, "expected true or false");
    assertThrows(() => guard.run("on" as never, () => {}), TypeError, "expected true or false");
  }
  assertThrows(() => new AutoGradMode(undefined as never), TypeError, "got undefined");
});

Deno.test("IncludeDispatchKeyGuard and ExcludeDispatchKeyGuard reject what is not a key", async () => {
  for (const guard of [IncludeDispatchKeyGuard, ExcludeDispatchKeyGuard]) {
    for (const bad of [undefined, null, "CPU", {}, [1]]) {
      assertThrows(() => new guard(bad as never), TypeError, "expected keys such as");
      await assertRejects(() => guard.enter(bad as never), TypeError);
    }
  }
});

Deno.test("the guards of one package declare their slots only when they are first used", async () => {
  const worker = `
    import { registry } from "${import.meta.resolve("../../mod.ts")}";
    import { isGradEnabled } from "${import.meta.resolve("../../guards/mod.ts")}";
    import "${import.meta.resolve("../../observers/mod.ts")}";
    const before = registry.size;
    isGradEnabled();
    postMessage([before, registry.size]);
  `;
  const url = `data:application/typescript,${encodeURIComponent(worker)}`;
  const isolate = new Worker(url, { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  isolate.onmessage = ({ data }) => resolve(data);
  isolate.onerror = (event) => reject(event.error ?? new Error(event.message));

  const sizes = await promise.finally(() => isolate.terminate());

  assertEquals(sizes, [0, 1]);
});

Deno.test("a saved state carries all of PyTorch's slots", () => {
  const slots = [AutogradState.slot, LocalDispatchKeys.slot, ThreadLocalDebugInfo.slot];

  const state = InferenceMode.run(
    true,
    () => DebugInfoGuard.run(DebugInfoKind.TEST_INFO, { test: 2 }, saveThreadLocalState),
  );

  assertEquals(slots.map((slot) => state.has(slot as ThreadLocal<unknown>)), [true, true, true]);
  state.run(() => {
    assertEquals(AutogradState.current.inferenceMode, true);
    assertEquals(ThreadLocalDebugInfo.get(DebugInfoKind.TEST_INFO), { test: 2 });
  });
});
