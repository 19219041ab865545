import { detached, type Guard, registry, type ThreadLocal } from "@thread-local/core";
import {
  AutoFwGradMode,
  AutoGradMode,
  AutogradState,
  DebugInfoGuard,
  DebugInfoKind,
  dispatchKeys,
  EnableGradGuard,
  ExcludeDispatchKeyGuard,
  IncludeDispatchKeyGuard,
  InferenceMode,
  LocalDispatchKeys,
  NoGradGuard,
  ThreadLocalDebugInfo,
} from "@thread-local/core/guards";
import { DisableRecordFunctionGuard, isRecordFunctionEnabled } from "@thread-local/core/observers";
import { EDITED_SLOTS, write } from "./edits.ts";
import type { EditName } from "./program.ts";

/** The three forms of a guard of the library. */
interface Forms {
  create(): Guard;
  enter(): Promise<Guard>;
  run<R>(fn: () => R): R;
}

const { Tracer, ADInplaceOrView } = dispatchKeys;
const { TEST_INFO, TEST_INFO_2 } = DebugInfoKind;
const tracer = [Tracer, ADInplaceOrView];

/** PyTorch's guards, by what a program calls them. */
export const EDIT_GUARDS: Readonly<Record<EditName, Forms>> = {
  "AutoGradMode(false)": {
    create: () => new AutoGradMode(false),
    enter: () => AutoGradMode.enter(false),
    run: (fn) => AutoGradMode.run(false, fn),
  },
  "AutoGradMode(true)": {
    create: () => new AutoGradMode(true),
    enter: () => AutoGradMode.enter(true),
    run: (fn) => AutoGradMode.run(true, fn),
  },
  "NoGradGuard()": {
    create: () => new NoGradGuard(),
    enter: () => NoGradGuard.enter(),
    run: (fn) => NoGradGuard.run(fn),
  },
  "EnableGradGuard()": {
    create: () => new EnableGradGuard(),
    enter: () => EnableGradGuard.enter(),
    run: (fn) => EnableGradGuard.run(fn),
  },
  "AutoFwGradMode(false)": {
    create: () => new AutoFwGradMode(false),
    enter: () => AutoFwGradMode.enter(false),
    run: (fn) => AutoFwGradMode.run(false, fn),
  },
  "InferenceMode(true)": {
    create: () => new InferenceMode(true),
    enter: () => InferenceMode.enter(true),
    run: (fn) => InferenceMode.run(true, fn),
  },
  "InferenceMode(false)": {
    create: () => new InferenceMode(false),
    enter: () => InferenceMode.enter(false),
    run: (fn) => InferenceMode.run(false, fn),
  },
  "IncludeDispatchKeyGuard(Tracer, ADInplaceOrView)": {
    create: () => new IncludeDispatchKeyGuard(tracer),
    enter: () => IncludeDispatchKeyGuard.enter(tracer),
    run: (fn) => IncludeDispatchKeyGuard.run(tracer, fn),
  },
  "ExcludeDispatchKeyGuard(Tracer, ADInplaceOrView)": {
    create: () => new ExcludeDispatchKeyGuard(tracer),
    enter: () => ExcludeDispatchKeyGuard.enter(tracer),
    run: (fn) => ExcludeDispatchKeyGuard.run(tracer, fn),
  },
  "DebugInfoGuard(TEST_INFO)": infoForms(TEST_INFO),
  "DebugInfoGuard(TEST_INFO_2)": infoForms(TEST_INFO_2),
  "DisableRecordFunctionGuard()": {
    create: () => new DisableRecordFunctionGuard(),
    enter: () => DisableRecordFunctionGuard.enter(),
    run: (fn) => DisableRecordFunctionGuard.run(fn),
  },
};

function infoForms(kind: DebugInfoKind<object>): Forms {
  const info = {};
  return {
    create: () => new DebugInfoGuard(kind, info),
    enter: () => DebugInfoGuard.enter(kind, info),
    run: (fn) => DebugInfoGuard.run(kind, info, fn),
  };
}

/** What each slot holds, as the model would write it. Reading declares the slots. */
const writers: readonly [read: () => unknown, write: (value: never) => string][] = [
  [
    () => AutogradState.current,
    ({ gradMode, forwardGradMode, inferenceMode }: AutogradState) =>
      write({ grad: gradMode, forwardGrad: forwardGradMode, inference: inferenceMode }),
  ],
  [() => LocalDispatchKeys.current, ({ included, excluded }: LocalDispatchKeys) =>
    write({
      included: new Set([...included].map(({ name }) => name)),
      excluded: new Set([...excluded].map(({ name }) => name)),
    })],
  [() => ThreadLocalDebugInfo.slot.get(), writeInfos],
  [isRecordFunctionEnabled, ({ enabled }: { enabled: boolean }) => write(enabled)],
];

/** Takes the chain apart from the top, where no one else sees it. */
function writeInfos(chain: unknown): string {
  const { slot } = ThreadLocalDebugInfo;
  return detached(() =>
    slot.run(chain, () => {
      const kinds: string[] = [];
      while (slot.get() !== undefined) {
        const kind = [TEST_INFO, TEST_INFO_2].find((kind) => isOnTop(kind))!;
        ThreadLocalDebugInfo.pop(kind);
        kinds.unshift(kind.name);
      }
      return write(kinds);
    })
  );
}

function isOnTop(kind: DebugInfoKind<object>): boolean {
  try {
    return ThreadLocalDebugInfo.peek(kind) !== undefined;
  } catch {
    return false;
  }
}

/** One of PyTorch's slots, and how its values are written. */
interface Written {
  readonly slot: ThreadLocal<unknown>;
  write(value: unknown): string;
}

let written: readonly Written[] | undefined;

/** PyTorch's slots. Declared at the first call: the first places belong to the programs' own. */
export function editedSlots(): readonly Written[] {
  return written ??= EDITED_SLOTS.map(({ key }, i) => {
    const [read, write] = writers[i];
    read();
    // The values never change, and each is read many times.
    const texts = new Map<unknown, string>();
    return {
      slot: registry.get(key)!,
      write(value) {
        let text = texts.get(value);
        if (text === undefined) texts.set(value, text = write(value as never));
        return text;
      },
    };
  });
}
