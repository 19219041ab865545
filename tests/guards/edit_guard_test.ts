import { assert, assertEquals, assertFalse } from "@std/assert";
import { saveThreadLocalState, ThreadLocal } from "@thread-local/core";
import {
  AutoFwGradMode,
  AutogradState,
  DebugInfoGuard,
  DebugInfoKind,
  dispatchKeys,
  ExcludeDispatchKeyGuard,
  type Guard,
  InferenceMode,
  isDispatchKeyExcluded,
  isForwardGradEnabled,
  isGradEnabled,
  isInferenceModeEnabled,
  type MisuseKind,
  NoGradGuard,
  onMisuse,
  ThreadLocalDebugInfo,
} from "@thread-local/core/guards";

const { Tracer } = dispatchKeys;
const other = new ThreadLocal("edit_guard_test.other", { initial: 0 });

/** Opens both, inner last, and closes the outer first: what `between` reads is returned. */
function closeOuterFirst<R>(outer: Guard, inner: Guard, between: () => R): [R, MisuseKind[]] {
  const kinds: MisuseKind[] = [];
  using _ = onMisuse(({ kind }) => kinds.push(kind));
  const closeOuter = outer[Symbol.dispose];
  const closeInner = inner[Symbol.dispose];
  try {
    closeOuter.call(outer);
    return [between(), kinds];
  } finally {
    closeInner.call(inner);
  }
}

Deno.test("EditGuard closed before one inside it leaves that one's edit of another field", () => {
  const [seen, kinds] = closeOuterFirst(
    new NoGradGuard(),
    new AutoFwGradMode(false),
    () => [isGradEnabled(), isForwardGradEnabled()],
  );

  assertEquals(seen, [true, false]);
  assertEquals(kinds, ["guard-out-of-order"]);
  assertEquals([isGradEnabled(), isForwardGradEnabled()], [true, true]);
  assertFalse(AutogradState.slot.isBound());
});

Deno.test("EditGuard closed before an equal one inside it leaves that one in force", () => {
  const [seen] = closeOuterFirst(
    new ExcludeDispatchKeyGuard(Tracer),
    new ExcludeDispatchKeyGuard(Tracer),
    () => isDispatchKeyExcluded(Tracer),
  );

  assert(seen);
  assertFalse(isDispatchKeyExcluded(Tracer));
});

Deno.test("EditGuard of two slots closed first leaves the inner guard of one of them", () => {
  const { AutogradCPU } = dispatchKeys;

  const [seen] = closeOuterFirst(
    new InferenceMode(),
    new ExcludeDispatchKeyGuard(AutogradCPU),
    () => [isInferenceModeEnabled(), isDispatchKeyExcluded(AutogradCPU)],
  );

  assertEquals(seen, [false, true]);
  assertFalse(isDispatchKeyExcluded(AutogradCPU));
});

Deno.test("EditGuard inside a slot's own guard is applied anew when that closes first", () => {
  const { slot } = AutogradState;

  const [seen] = closeOuterFirst(
    slot.with(slot.get().with({ multithreading: false })),
    new NoGradGuard(),
    () => [slot.get().multithreading, isGradEnabled()],
  );

  assertEquals(seen, [true, false]);
  assert(isGradEnabled());
});

Deno.test("EditGuard closed before a slot's own guard inside it changes nothing there", () => {
  const { slot } = AutogradState;

  const [seen] = closeOuterFirst(
    new NoGradGuard(),
    slot.with(slot.get().with({ inferenceMode: true })),
    () => [isGradEnabled(), isInferenceModeEnabled()],
  );

  assertEquals(seen, [true, true]);
  assertEquals([isGradEnabled(), isInferenceModeEnabled()], [true, false]);
});

Deno.test("EditGuard passes by a guard of another slot inside it", () => {
  const [seen] = closeOuterFirst(new NoGradGuard(), other.with(1), () => [
    isGradEnabled(),
    other.get(),
  ]);

  assertEquals(seen, [true, 1]);
  assertEquals(other.get(), 0);
});

Deno.test("DebugInfoGuard closed before one inside it takes out its own info only", () => {
  const { TEST_INFO, TEST_INFO_2 } = DebugInfoKind;

  const [seen] = closeOuterFirst(
    new DebugInfoGuard(TEST_INFO, { outer: 1 }),
    new DebugInfoGuard(TEST_INFO_2, { inner: 1 }),
    () => [ThreadLocalDebugInfo.get(TEST_INFO), ThreadLocalDebugInfo.get(TEST_INFO_2)],
  );

  assertEquals(seen, [null, { inner: 1 }]);
  assertEquals(ThreadLocalDebugInfo.get(TEST_INFO_2), null);
});

Deno.test("EditGuard undoes its edit where the slot was cleared inside", () => {
  const { slot } = AutogradState;
  slot.run(slot.get().with({ gradMode: false }), () => {
    {
      using _ = new AutoFwGradMode(false);
      slot.clear();
    }

    assert(isForwardGradEnabled());
    assert(isGradEnabled(), "what was cleared inside stays");
  });
});

Deno.test("EditGuard edits what a wire carried before the slot was declared", async () => {
  const worker = `
    import { ThreadLocalState } from "${import.meta.resolve("../../mod.ts")}";
    import { isForwardGradEnabled, isGradEnabled, NoGradGuard } from "${
    import.meta.resolve("../../guards/mod.ts")
  }";
    onmessage = ({ data }) => {
      const state = ThreadLocalState.fromWire(data);
      const seen = state.run(() => {
        const inside = NoGradGuard.run(() => [isGradEnabled(), isForwardGradEnabled()]);
        return [...inside, isGradEnabled(), isForwardGradEnabled()];
      });
      postMessage(seen);
    };
  `;
  const isolate = new Worker(`data:application/typescript,${encodeURIComponent(worker)}`, {
    type: "module",
  });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  isolate.onmessage = ({ data }) => resolve(data);
  isolate.onerror = (event) => reject(new Error(event.message));
  isolate.postMessage(AutoFwGradMode.run(false, saveThreadLocalState).toWire());

  const seen = await promise.finally(() => isolate.terminate());

  assertEquals(seen, [false, false, true, false]);
});
