import { assert, assertEquals, assertThrows } from "@std/assert";
import { fork, saveThreadLocalState, scoped } from "@thread-local/core";
import {
  addGlobalObserver,
  addThreadLocalObserver,
  disableObserver,
  DisableRecordFunctionGuard,
  enableObserver,
  type Observer,
  RecordFunction,
  recordFunction,
  removeObserver,
} from "@thread-local/core/observers";
import { onMisuse } from "@thread-local/core/registry";
import { runChild } from "../fixtures/child.ts";
import { recordFunctionSlot } from "../../observers/record_function_state.ts";
import { book } from "../../observers/registration.ts";

function names(into: string[]): Observer<void> {
  return { start: ({ name }) => void into.push(name) };
}

const op = (name: string) => recordFunction(name, {}, () => {});

for (
  const [kind, add] of [["global", addGlobalObserver], ["local", addThreadLocalObserver]] as const
) {
  Deno.test(`a ${kind} observer: handles ascend and are never reused`, () => {
    scoped(() => {
      const first = add({});
      removeObserver(first);
      const second = add({});
      removeObserver(second);

      assert(second > first);
    });
  });

  Deno.test(`a ${kind} observer: of three, the first then the third removed, the others fire`, () => {
    scoped(() => {
      const events: string[] = [];
      const handles = ["1", "2", "3"].map((name) => add({ start: () => void events.push(name) }));

      op("op");
      removeObserver(handles[0]);
      op("op");
      removeObserver(handles[2]);
      op("op");
      removeObserver(handles[1]);
      op("op");

      assertEquals(events, ["1", "2", "3", "2", "3", "2"]);
    });
  });

  Deno.test(`a ${kind} observer is not told of ranges while it is disabled`, () => {
    scoped(() => {
      const seen: string[] = [];
      const ended: string[] = [];
      const handle = add({ ...names(seen), end: ({ name }) => void ended.push(name) });
      const open = new RecordFunction("open");

      disableObserver(handle);
      op("hidden");
      open.end();
      enableObserver(handle);
      op("seen");
      removeObserver(handle);

      assertEquals(seen, ["open", "seen"]);
      assertEquals(ended, ["open", "seen"]);
    });
  });

  Deno.test(`a ${kind} observer is not told of ranges inside DisableRecordFunctionGuard`, () => {
    scoped(() => {
      const seen: string[] = [];
      const handle = add(names(seen));
      {
        using _ = new DisableRecordFunctionGuard();
        op("hidden");
      }
      op("seen");
      removeObserver(handle);

      assertEquals(seen, ["seen"]);
    });
  });

  Deno.test(`a ${kind} observer that is removed is drained when its last range has ended`, async () => {
    await scoped(async () => {
      const events: string[] = [];
      const handle = add({ end: ({ name }) => void events.push(name) });
      const ranges = [new RecordFunction("a"), new RecordFunction("b")];

      const drained = removeObserver(handle).then(() => events.push("drained"));
      ranges[0].end();
      await Promise.resolve();
      await Promise.resolve();
      assertEquals(events, ["a"]);
      ranges[1].end();
      await drained;

      assertEquals(events, ["a", "b", "drained"]);
    });
  });

  Deno.test(`a ${kind} observer without open ranges is drained at once`, async () => {
    await scoped(() => removeObserver(add({})));
  });

  Deno.test(`a ${kind} observer that is none is rejected, and nothing is added`, () => {
    const before = book.live;

    for (const bad of [undefined, null, () => {}, 1]) {
      assertThrows(() => add(bad as never), TypeError, "Cannot add an observer");
    }
    assertThrows(() => add({ start: 1 as never }), TypeError, "start must be a function");
    assertThrows(() => add({ scopes: ["nothing" as never] }), TypeError, `"nothing"`);
    for (const sampling of [-0.1, 1.1, NaN, Infinity, "1" as never]) {
      assertThrows(() => add({ sampling }), RangeError, "from 0 to 1");
    }

    assertEquals(book.live, before);
  });
}

Deno.test("removing, enabling or disabling an unknown observer is reported, with the place", () => {
  const reports: unknown[] = [];
  using _ = onMisuse(({ kind, stack }) =>
    reports.push([kind, stack?.includes("observer_test.ts")])
  );
  const handle = addGlobalObserver({});
  removeObserver(handle);

  removeObserver(handle);
  enableObserver(handle);
  disableObserver(1_000_000);

  assertEquals(reports, [1, 2, 3].map(() => ["observer-unknown", true]));
});

Deno.test("a thread-local observer fires in a thread that got the state, not in another", async () => {
  const seen: string[] = [];
  const without = saveThreadLocalState();
  const observed = scoped(() => {
    addThreadLocalObserver(names(seen));
    return saveThreadLocalState();
  });

  await observed.run(() => fork(() => op("with")));
  await without.run(() => fork(() => op("without")));

  assertEquals(seen, ["with"]);
});

Deno.test("a thread-local observer that a fork adds is not seen by its parent", async () => {
  const seen: string[] = [];

  await fork(() => {
    addThreadLocalObserver(names(seen));
    op("in the fork");
  });
  op("in the parent");

  assertEquals(seen, ["in the fork"]);
});

Deno.test("a thread-local observer removed in one flow is removed in every flow", async () => {
  await scoped(async () => {
    const seen: string[] = [];
    const handle = addThreadLocalObserver(names(seen));
    const gate = Promise.withResolvers<void>();
    const forked = fork(async () => {
      await gate.promise;
      op("forked");
    });

    await fork(() => removeObserver(handle));
    gate.resolve();
    await forked;
    op("here");

    assertEquals(seen, []);
  });
});

Deno.test("a thread-local observer that is removed leaves nothing bound", () => {
  scoped(() => {
    const slot = recordFunctionSlot();
    slot.clear();
    const handle = addThreadLocalObserver({});
    assert(slot.isBound());

    removeObserver(handle);

    assert(!slot.isBound());
  });
});

Deno.test("DisableRecordFunctionGuard keeps the observers that were added inside it", () => {
  scoped(() => {
    const seen: string[] = [];
    {
      using _ = new DisableRecordFunctionGuard();
      addThreadLocalObserver(names(seen));
      op("hidden");
    }
    op("seen");

    assertEquals(seen, ["seen"]);
  });
});

Deno.test("a thread-local observer goes with the last flow that sees it, and ranges are free again", async () => {
  const { stdout } = await runChild("observer_memory.ts");

  assertEquals(JSON.parse(stdout), { before: 100, after: 0, handles: 0 });
});
