import { assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { type ContextStorage, pickStorage } from "../../registry/storage.ts";
import { inTurnOfItsOwn } from "../fixtures/everywhere.ts";

/** As TC39 has it: no way to enter without a callback. */
class Variable<F> {
  readonly #storage = new AsyncLocalStorage<F>();

  get(): F | undefined {
    return this.#storage.getStore();
  }

  run<A extends unknown[], R>(frame: F, fn: (...args: A) => R, ...args: A): R {
    return this.#storage.run(frame, fn, ...args);
  }
}

/** As Node 20 and 22 have it: `run` of the current store is a plain call. */
class SkippingStorage<F> extends AsyncLocalStorage<F> {
  override run<R>(store: F, fn: () => R): R;
  override run<R, A extends unknown[]>(store: F, fn: (...args: A) => R, ...args: A): R;
  override run<R, A extends unknown[]>(store: F, fn: (...args: A) => R, ...args: A): R {
    return store === this.getStore() ? fn(...args) : super.run(store, fn, ...args);
  }
}

const platforms = {
  "AsyncLocalStorage of process.getBuiltinModule": {
    process: { getBuiltinModule: () => ({ AsyncLocalStorage }) },
  },
  "a global AsyncLocalStorage": { AsyncLocalStorage },
  "an AsyncLocalStorage whose run of the current store is a plain call": {
    AsyncLocalStorage: SkippingStorage,
  },
  "AsyncContext.Variable only": { AsyncContext: { Variable } },
  "no asynchronous context": {},
};

const kinds = Object.entries(platforms).map(([name, platform]) =>
  [name, platform, pickStorage<string>(platform).kind] as const
);

Deno.test("pickStorage() picks AsyncLocalStorage, then AsyncContext.Variable, then a plain variable", () => {
  assertEquals(kinds.map(([, , kind]) => kind), [
    "AsyncLocalStorage",
    "AsyncLocalStorage",
    "AsyncLocalStorage",
    "AsyncContext.Variable",
    "synchronous",
  ]);
});

Deno.test("pickStorage() prefers AsyncLocalStorage where there is an AsyncContext.Variable too", () => {
  const both = { AsyncLocalStorage, AsyncContext: { Variable } };

  assertEquals(pickStorage(both).kind, "AsyncLocalStorage");
});

Deno.test("pickStorage() does without a node:async_hooks that the runtime does not have", () => {
  const none = { process: { getBuiltinModule: () => undefined } };

  assertEquals(pickStorage(none).kind, "synchronous");
  assertEquals(pickStorage({ process: {} }).kind, "synchronous");
});

Deno.test("pickStorage() picks AsyncLocalStorage here", () => {
  assertEquals(pickStorage().kind, "AsyncLocalStorage");
});

for (const [name, platform, kind] of kinds) {
  const { storage } = pickStorage<string>(platform);

  Deno.test(`pickStorage() with ${name}: run() nests, passes arguments and result, and restores`, () => {
    const seen = storage.run(
      "outer",
      (a: number, b: number) => {
        const inner = storage.run("inner", () => storage.getStore());
        return [storage.getStore(), inner, storage.getStore(), a + b];
      },
      1,
      2,
    );

    assertEquals(seen, ["outer", "inner", "outer", 3]);
    assertEquals(storage.getStore(), undefined);
  });

  Deno.test(`pickStorage() with ${name}: run() restores when fn throws`, () => {
    storage.run("outer", () => {
      assertThrows(() =>
        storage.run("inner", () => {
          throw new RangeError("inside");
        }), RangeError);
      assertEquals(storage.getStore(), "outer");
    });

    assertEquals(storage.getStore(), undefined);
  });

  Deno.test(`pickStorage() with ${name}: after an await a flow sees its own frame or none`, async () => {
    const seen = await Promise.all(["a", "b"].map((frame) =>
      storage.run(frame, async () => {
        await null;
        return storage.getStore();
      })
    ));

    assertEquals(seen, kind === "synchronous" ? [undefined, undefined] : ["a", "b"]);
    assertEquals(storage.getStore(), undefined);
  });

  if (kind !== "AsyncContext.Variable") {
    for (const [same, frame] of [["the same frame", "outer"], ["another frame", "inner"]]) {
      Deno.test(`pickStorage() with ${name}: what fn enters in a run() of ${same} does not outlive it`, () => {
        storage.run("outer", () => {
          storage.run(frame, () => storage.enterWith("entered"));
          assertEquals(storage.getStore(), "outer");

          assertThrows(() =>
            storage.run(frame, () => {
              storage.enterWith("entered");
              throw new Error("inside");
            })
          );
          assertEquals(storage.getStore(), "outer");
        });
      });
    }

    Deno.test(`pickStorage() with ${name}: enterWith() holds for the turn`, async () => {
      const entered = await inTurnOfItsOwn(() => {
        storage.enterWith("entered");
        return storage.getStore();
      });

      assertEquals(entered, "entered");
      assertEquals(storage.getStore(), undefined);
    });
  }
}

Deno.test("pickStorage() with AsyncContext.Variable only: enterWith() says what to use instead", () => {
  const { storage } = pickStorage({ AsyncContext: { Variable } });

  const error = assertThrows(() => storage.enterWith("frame"), TypeError);

  assertEquals(error.message.includes("slot.run(value, fn)"), true);
});

Deno.test("pickStorage() with no asynchronous context: what a turn entered is gone in the next microtask", async () => {
  const { storage } = pickStorage<string>({});

  for (let turn = 0; turn < 2; turn++) {
    storage.enterWith("entered");
    assertEquals(storage.getStore(), "entered");
    await null;

    assertEquals(storage.getStore(), undefined);
  }
});

Deno.test("pickStorage() with no asynchronous context: run() binds for no microtask that waits already", async () => {
  const { storage } = pickStorage<string>({});
  const waiting = Promise.resolve().then(() => storage.getStore());

  storage.run("ran", () => storage.enterWith("entered"));

  assertEquals(await waiting, undefined);
});

Deno.test("pickStorage() leaves no second AsyncLocalStorage enabled", () => {
  const made: { disabled: boolean }[] = [];
  class Counted<F> extends AsyncLocalStorage<F> {
    disabled = false;
    constructor() {
      super();
      made.push(this);
    }
    override disable(): void {
      this.disabled = true;
      super.disable();
    }
  }

  const { storage } = pickStorage({ AsyncLocalStorage: Counted });

  const live = made.filter(({ disabled }) => !disabled);
  assertEquals(live.length, 1);
  assertStrictEquals(live[0] as unknown, storage as ContextStorage<unknown>);
  assertFalse(made.length > 2);
});
