import { assert, assertEquals, assertFalse, assertStrictEquals, assertThrows } from "@std/assert";
import { saveThreadLocalState } from "@thread-local/core";
import {
  AutoFwGradMode,
  autogradDispatchKeys,
  AutoGradMode,
  AutogradState,
  dispatchKeys,
  DispatchKeySet,
  EnableGradGuard,
  InferenceMode,
  isDispatchKeyExcluded,
  isDispatchKeyIncluded,
  isForwardGradEnabled,
  isGradEnabled,
  isInferenceModeEnabled,
  isMultithreadingEnabled,
  LocalDispatchKeys,
  NoGradGuard,
} from "@thread-local/core/guards";

Deno.test("AutogradState has grad mode, forward grad mode and multithreading on at first", () => {
  const modes = [
    isGradEnabled(),
    isForwardGradEnabled(),
    isInferenceModeEnabled(),
    isMultithreadingEnabled(),
  ];

  assertEquals(modes, [true, true, false, true]);
});

Deno.test("AutogradState.with() changes the given modes only, and equal states are one object", () => {
  const state = AutogradState.current;

  const changed = state.with({ gradMode: false, multithreading: false });

  assertEquals(
    [changed.gradMode, changed.forwardGradMode, changed.inferenceMode, changed.multithreading],
    [false, true, false, false],
  );
  assertStrictEquals(changed.with({ gradMode: true, multithreading: true }), state);
});

Deno.test("AutogradState.with() rejects a mode that is not a boolean", () => {
  assertThrows(() => AutogradState.current.with({ gradMode: 0 as never }), TypeError, "gradMode");
});

Deno.test("AutogradState in a saved state can be overridden before it is used", () => {
  const forward = saveThreadLocalState();
  const { slot } = AutogradState;

  const backward = forward.with(
    slot,
    forward.get(slot).with({ gradMode: false, multithreading: false }),
  );

  assertFalse(backward.run(isGradEnabled));
  assertFalse(backward.run(isMultithreadingEnabled));
  assert(forward.run(isGradEnabled));
});

Deno.test("AutogradState crosses the wire as four booleans", () => {
  const { encode, decode } = AutogradState.slot.wire as {
    encode(state: AutogradState): unknown;
    decode(wire: unknown): AutogradState;
  };
  const state = AutogradState.current.with({ inferenceMode: true });

  assertStrictEquals(decode(JSON.parse(JSON.stringify(encode(state)))), state);
  for (const bad of [null, 1, {}, [], { gradMode: true }]) {
    assertThrows(() => decode(bad), TypeError);
  }
});

Deno.test("AutoGradMode leaves the other modes alone", () => {
  using _outer = new AutoFwGradMode(false);

  using _ = new AutoGradMode(false);

  assertFalse(isForwardGradEnabled());
  assert(isMultithreadingEnabled());
});

Deno.test("AutoFwGradMode leaves grad mode alone", () => {
  using _outer = new NoGradGuard();

  using _ = new AutoFwGradMode(false);

  assertFalse(isGradEnabled());
});

Deno.test("EnableGradGuard turns grad mode on inside NoGradGuard, which is back afterwards", () => {
  using _outer = new NoGradGuard();
  {
    using _ = new EnableGradGuard();
    assert(isGradEnabled());
  }

  assertFalse(isGradEnabled());
});

Deno.test("AutoGradMode restores grad mode as it was before, whatever was set inside", () => {
  NoGradGuard.run(() => {
    {
      using _ = new AutoGradMode(true);
      AutogradState.slot.set(AutogradState.current.with({ gradMode: true, multithreading: false }));
    }

    assertFalse(isGradEnabled());
    assertFalse(isMultithreadingEnabled(), "what others changed stays");
  });
});

Deno.test("InferenceMode(true) turns both grad modes off and excludes the autograd keys", () => {
  using _ = new InferenceMode(true);

  assertEquals([isGradEnabled(), isForwardGradEnabled(), isInferenceModeEnabled()], [
    false,
    false,
    true,
  ]);
  assert([...autogradDispatchKeys].every(isDispatchKeyExcluded));
  assertFalse(isDispatchKeyIncluded(dispatchKeys.ADInplaceOrView));
});

Deno.test("InferenceMode leaves multithreading alone", () => {
  for (const enabled of [true, false]) {
    const multithreading = InferenceMode.run(enabled, isMultithreadingEnabled);

    assert(multithreading);
  }
});

Deno.test("InferenceMode(false) inside no-grad turns grad mode on", () => {
  using _outer = new NoGradGuard();

  using _ = new InferenceMode(false);

  assert(isGradEnabled());
  assert(isForwardGradEnabled());
});

Deno.test("InferenceMode(false) inside InferenceMode(true) is as outside of both", () => {
  const before = LocalDispatchKeys.current;
  using _outer = new InferenceMode(true);
  {
    using _ = new InferenceMode(false);

    assert(LocalDispatchKeys.current.equals(before));
    assertFalse(isInferenceModeEnabled());
  }
  assert(isInferenceModeEnabled());
});

Deno.test("InferenceMode edits both slots in one step: no frame has only one of them", () => {
  const before = saveThreadLocalState();
  const guard = new InferenceMode();

  using _ = guard;
  const inside = saveThreadLocalState();

  const bound = [AutogradState.slot, LocalDispatchKeys.slot].map((slot) =>
    inside.has(slot as never)
  );
  assertEquals(bound, [true, true]);
  assertEquals(inside.size, before.size + 2);
});

Deno.test("InferenceMode undoes only what it changed of the dispatch keys", () => {
  const { slot } = LocalDispatchKeys;
  {
    using _ = new InferenceMode();
    const { excluded } = slot.get();
    slot.set(slot.get().with({ excluded: excluded.union(DispatchKeySet.of(dispatchKeys.Tracer)) }));
  }

  assert(isDispatchKeyExcluded(dispatchKeys.Tracer));
  assertFalse(isDispatchKeyExcluded(dispatchKeys.AutogradCPU));
  assert(isDispatchKeyIncluded(dispatchKeys.ADInplaceOrView));
  slot.clear();
});

Deno.test("NoGradGuard.enter() without await is not accepted by using", async () => {
  const entered = NoGradGuard.enter();

  assertThrows(() => {
    // @ts-expect-error: a promise of a guard is not a guard.
    using _ = entered;
  }, TypeError);
  await entered;
});
