// Bindings that a wire carried for slots that are declared later, in the corners.
import { assertEquals } from "@std/assert";
import {
  restoreThreadLocalState,
  saveThreadLocalState,
  ThreadLocal,
  ThreadLocalState,
  type WireCodec,
} from "@thread-local/core";
import { AutogradState, isGradEnabled, NoGradGuard } from "@thread-local/core/guards";

const empty = saveThreadLocalState();

/** A state with a carried binding, and its slot, declared after that. */
function carried(key: string): { state: ThreadLocalState; slot: ThreadLocal<string> } {
  const state = ThreadLocalState.fromWire({ version: 1, bindings: [[key, "carried"]] });
  return { state, slot: new ThreadLocal(key, { initial: "initial", wire: true }) };
}

// Must come first in the isolate: the first wire with an unknown key is the one that matters.
Deno.test("A slot that a decode declares has what the same wire carried for it", () => {
  let declared: ThreadLocal<string> | undefined;
  const declares: WireCodec<number> = {
    encode: Number,
    decode() {
      declared = new ThreadLocal("carried_test.by decode", { initial: "initial", wire: true });
      return 1;
    },
  };
  new ThreadLocal("carried_test.declares", { initial: 0, wire: declares });

  const state = ThreadLocalState.fromWire({
    version: 1,
    bindings: [["carried_test.by decode", "carried"], ["carried_test.declares", 1]],
  });

  assertEquals(state.run(() => declared!.get()), "carried");
});

for (
  const [how, undo] of Object.entries({
    "clear()": (slot: ThreadLocal<string>) => slot.clear(),
    "restoreThreadLocalState()": () => restoreThreadLocalState(empty),
  })
) {
  Deno.test(`A guard brings a carried binding back at its end, after ${how} inside it`, () => {
    const { state, slot } = carried(`carried_test.${how}`);

    const seen = state.run(() => {
      {
        using _ = slot.with("inside");
        undo(slot);
      }
      return slot.get();
    });

    assertEquals(seen, "carried");
  });
}

Deno.test("A guard that edits brings a carried binding back at its end, after clear() inside it", () => {
  const state = ThreadLocalState.fromWire({
    version: 1,
    bindings: [["@thread-local/core/autogradState", {
      gradMode: false,
      forwardGradMode: true,
      inferenceMode: false,
      multithreading: true,
    }]],
  });

  const seen = state.run(() => {
    {
      using _ = new NoGradGuard();
      AutogradState.slot.clear();
    }
    return isGradEnabled();
  });

  assertEquals(seen, false);
});
