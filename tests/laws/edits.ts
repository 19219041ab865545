import { dispatchKeyNames } from "@thread-local/core/guards";
import type { EditName } from "./program.ts";

// What PyTorch's guards do, as their documents say it: to plain values, none of the library's.

/** One of PyTorch's slots: whatever it holds can be written as a text. */
export interface EditedSlot {
  readonly key: string;
  readonly initial: unknown;
}

/** What a guard does to what one slot holds, and how that alone is taken out again. */
export interface Edit {
  readonly slot: EditedSlot;
  apply(outside: unknown): unknown;
  undo(before: unknown, visible: unknown): unknown;
}

interface Modes {
  readonly grad: boolean;
  readonly forwardGrad: boolean;
  readonly inference: boolean;
}

interface Keys {
  readonly included: ReadonlySet<string>;
  readonly excluded: ReadonlySet<string>;
}

function namesWith(prefix: string): ReadonlySet<string> {
  return new Set(dispatchKeyNames.filter((name) => name.startsWith(prefix)));
}

const autogradState: EditedSlot = {
  key: "@thread-local/core/autogradState",
  initial: { grad: true, forwardGrad: true, inference: false } satisfies Modes,
};
const localDispatchKeys: EditedSlot = {
  key: "@thread-local/core/localDispatchKeys",
  initial: {
    included: new Set(["BackendSelect", "ADInplaceOrView"]),
    excluded: namesWith("Autocast"),
  } satisfies Keys,
};
const debugInfo: EditedSlot = { key: "@thread-local/core/debugInfo", initial: [] };
const recordFunction: EditedSlot = { key: "@thread-local/core/recordFunction", initial: true };

/** PyTorch's slots, in the order in which they are read. */
export const EDITED_SLOTS: readonly EditedSlot[] = [
  autogradState,
  localDispatchKeys,
  debugInfo,
  recordFunction,
];

/** A value of one of these slots as a text, the same for equal values. */
export function write(value: unknown): string {
  return JSON.stringify(value, (_, part) => part instanceof Set ? [...part].sort() : part);
}

/** Sets some modes; undone, these are what they were, and the others stay as they are. */
function modes(changes: Partial<Modes>): Edit {
  return {
    slot: autogradState,
    apply: (outside) => ({ ...outside as Modes, ...changes }),
    undo: (before, visible) => ({
      ...visible as Modes,
      ...Object.fromEntries(
        Object.keys(changes).map((name) => [name, (before as Modes)[name as keyof Modes]]),
      ),
    }),
  };
}

/** Changes the sets; undone, only what it put in is taken out, and what it took out put in. */
function keys(change: (outside: Keys) => Keys): Edit {
  const undoSet = (side: keyof Keys, before: Keys, visible: Keys): ReadonlySet<string> => {
    const inside = change(before)[side];
    return visible[side].difference(inside.difference(before[side]))
      .union(before[side].difference(inside));
  };
  return {
    slot: localDispatchKeys,
    apply: (outside) => change(outside as Keys),
    undo: (before, visible) => ({
      included: undoSet("included", before as Keys, visible as Keys),
      excluded: undoSet("excluded", before as Keys, visible as Keys),
    }),
  };
}

const autograd = namesWith("Autograd");
const view = new Set(["ADInplaceOrView"]);
const tracer = new Set(["Tracer", "ADInplaceOrView"]);

/** What each guard does. */
export const EDITS: Readonly<Record<EditName, readonly Edit[]>> = {
  "AutoGradMode(false)": [modes({ grad: false })],
  "AutoGradMode(true)": [modes({ grad: true })],
  "NoGradGuard()": [modes({ grad: false })],
  "EnableGradGuard()": [modes({ grad: true })],
  "AutoFwGradMode(false)": [modes({ forwardGrad: false })],
  "InferenceMode(true)": [
    modes({ grad: false, forwardGrad: false, inference: true }),
    keys(({ included, excluded }) => ({
      included: included.difference(view),
      excluded: excluded.union(autograd),
    })),
  ],
  "InferenceMode(false)": [
    modes({ grad: true, forwardGrad: true, inference: false }),
    keys(({ included, excluded }) => ({
      included: included.union(view),
      excluded: excluded.difference(autograd),
    })),
  ],
  "IncludeDispatchKeyGuard(Tracer, ADInplaceOrView)": [
    keys(({ included, excluded }) => ({ included: included.union(tracer), excluded })),
  ],
  "ExcludeDispatchKeyGuard(Tracer, ADInplaceOrView)": [
    keys(({ included, excluded }) => ({ included, excluded: excluded.union(tracer) })),
  ],
  "DebugInfoGuard(TEST_INFO)": [info("TEST_INFO")],
  "DebugInfoGuard(TEST_INFO_2)": [info("TEST_INFO_2")],
  "DisableRecordFunctionGuard()": [
    { slot: recordFunction, apply: () => false, undo: (before) => before },
  ],
};

/** Undone, the chain is as it was outside. */
function info(kind: string): Edit {
  return {
    slot: debugInfo,
    apply: (outer) => [...outer as string[], kind],
    undo: (before) => before,
  };
}
