import {
  AutoFwGradMode,
  AutoGradMode,
  DebugInfoGuard,
  DebugInfoKind,
  type DispatchKey,
  dispatchKeys,
  EnableGradGuard,
  ExcludeDispatchKeyGuard,
  type Guard,
  IncludeDispatchKeyGuard,
  InferenceMode,
  isForwardGradEnabled,
  isGradEnabled,
  isInferenceModeEnabled,
  LocalDispatchKeys,
  NoGradGuard,
  ThreadLocalDebugInfo,
} from "@thread-local/core/guards";
import { DisableRecordFunctionGuard, isRecordFunctionEnabled } from "@thread-local/core/observers";
import fc from "fast-check";

/** What all of PyTorch's slots hold, as plain values. */
export interface Model {
  readonly grad: boolean;
  readonly forwardGrad: boolean;
  readonly inference: boolean;
  readonly included: ReadonlySet<DispatchKey>;
  readonly excluded: ReadonlySet<DispatchKey>;
  /** From the outermost to the innermost. */
  readonly infos: readonly (readonly [DebugInfoKind<object>, object])[];
  readonly observed: boolean;
}

/** One guard: in the library, and what it does to the model. */
export interface GuardSpec {
  readonly name: string;
  create(): Guard;
  enter(): Promise<Guard>;
  run<R>(fn: () => R): R;
  apply(outside: Model): Model;
  /** The model after the guard, of the models before it and at its end. */
  undo(before: Model, visible: Model): Model;
}

/** What a program does next. */
export type Step =
  | { readonly kind: "read" | "await" | "throw" | "timer" }
  | { readonly kind: "include" | "exclude"; readonly key: DispatchKey }
  | { readonly kind: "catch"; readonly body: readonly Step[] }
  | { readonly kind: "all"; readonly bodies: readonly (readonly Step[])[] }
  | {
    readonly kind: "block" | "rest" | "run";
    readonly guard: GuardSpec;
    readonly body: readonly Step[];
  }
  | { readonly kind: "overlap"; readonly guards: readonly GuardSpec[]; readonly order: number[] };

/** What the library holds now. */
export function readModel(): Model {
  const { included, excluded } = LocalDispatchKeys.current;
  return {
    grad: isGradEnabled(),
    forwardGrad: isForwardGradEnabled(),
    inference: isInferenceModeEnabled(),
    included: new Set(included),
    excluded: new Set(excluded),
    infos: readInfos(),
    observed: isRecordFunctionEnabled(),
  };
}

/** Takes the chain apart from the top, in a scope that keeps it. */
function readInfos(): Model["infos"] {
  const infos: [DebugInfoKind<object>, object][] = [];
  ThreadLocalDebugInfo.slot.run(ThreadLocalDebugInfo.slot.get(), () => {
    for (;;) {
      const kind = infoKinds.find((kind) => {
        try {
          return ThreadLocalDebugInfo.peek(kind) !== undefined;
        } catch {
          return false;
        }
      });
      if (kind === undefined) return;
      infos.unshift([kind, ThreadLocalDebugInfo.pop(kind)]);
    }
  });
  return infos;
}

const infoKinds = [DebugInfoKind.TEST_INFO, DebugInfoKind.TEST_INFO_2];
const { ADInplaceOrView, AutogradCPU, AutocastCPU, Tracer, CPU } = dispatchKeys;
const keys: readonly DispatchKey[] = [ADInplaceOrView, AutogradCPU, AutocastCPU, Tracer, CPU];
const autograd = new Set<DispatchKey>(
  Object.values(dispatchKeys).filter(({ name }) => name.startsWith("Autograd")),
);

/** The set at a guard's end, without what the guard put in and with what it took out. */
function undoSet(
  before: ReadonlySet<DispatchKey>,
  inside: ReadonlySet<DispatchKey>,
  visible: ReadonlySet<DispatchKey>,
): ReadonlySet<DispatchKey> {
  return visible.difference(inside.difference(before)).union(before.difference(inside));
}

function undoSets(spec: Pick<GuardSpec, "apply">, before: Model, visible: Model): Model {
  const inside = spec.apply(before);
  return {
    ...visible,
    included: undoSet(before.included, inside.included, visible.included),
    excluded: undoSet(before.excluded, inside.excluded, visible.excluded),
  };
}

function field(
  name: string,
  changes: Partial<Model>,
  forms: Pick<GuardSpec, "create" | "enter" | "run">,
): GuardSpec {
  const pick = (model: Model) =>
    Object.fromEntries(Object.keys(changes).map((key) => [key, model[key as keyof Model]]));
  return {
    name,
    ...forms,
    apply: (outside) => ({ ...outside, ...changes }),
    undo: (before, visible) => ({ ...visible, ...pick(before) }),
  };
}

function gradMode(enabled: boolean): GuardSpec {
  return field(`AutoGradMode(${enabled})`, { grad: enabled }, {
    create: () => new AutoGradMode(enabled),
    enter: () => AutoGradMode.enter(enabled),
    run: (fn) => AutoGradMode.run(enabled, fn),
  });
}

function forwardGradMode(enabled: boolean): GuardSpec {
  return field(`AutoFwGradMode(${enabled})`, { forwardGrad: enabled }, {
    create: () => new AutoFwGradMode(enabled),
    enter: () => AutoFwGradMode.enter(enabled),
    run: (fn) => AutoFwGradMode.run(enabled, fn),
  });
}

function inferenceMode(enabled: boolean): GuardSpec {
  const modes = field(
    `InferenceMode(${enabled})`,
    { grad: !enabled, forwardGrad: !enabled, inference: enabled },
    {
      create: () => new InferenceMode(enabled),
      enter: () => InferenceMode.enter(enabled),
      run: (fn) => InferenceMode.run(enabled, fn),
    },
  );
  const spec: GuardSpec = {
    ...modes,
    apply(outside) {
      const { included, excluded } = outside;
      const view = new Set([ADInplaceOrView]);
      return {
        ...modes.apply(outside),
        included: enabled ? included.difference(view) : included.union(view),
        excluded: enabled ? excluded.union(autograd) : excluded.difference(autograd),
      };
    },
    undo: (before, visible) => modes.undo(before, undoSets(spec, before, visible)),
  };
  return spec;
}

function dispatch(side: "included" | "excluded", some: readonly DispatchKey[]): GuardSpec {
  const guard = side === "included" ? IncludeDispatchKeyGuard : ExcludeDispatchKeyGuard;
  const spec: GuardSpec = {
    name: `${side} ${some.join("+")}`,
    create: () => new guard(some),
    enter: () => guard.enter(some),
    run: (fn) => guard.run(some, fn),
    apply: (outside) => ({ ...outside, [side]: outside[side].union(new Set(some)) }),
    undo: (before, visible) => undoSets(spec, before, visible),
  };
  return spec;
}

function debugInfo(kind: DebugInfoKind<object>, info: object | null): GuardSpec {
  return {
    name: `DebugInfoGuard(${kind.name}, ${JSON.stringify(info)})`,
    create: () => new DebugInfoGuard(kind, info),
    enter: () => DebugInfoGuard.enter(kind, info),
    run: (fn) => DebugInfoGuard.run(kind, info, fn),
    apply: (outside) =>
      info === null ? outside : { ...outside, infos: [...outside.infos, [kind, info]] },
    undo: (before, visible) => info === null ? visible : { ...visible, infos: before.infos },
  };
}

const noGrad = field("NoGradGuard", { grad: false }, {
  create: () => new NoGradGuard(),
  enter: () => NoGradGuard.enter(),
  run: (fn) => NoGradGuard.run(fn),
});
const enableGrad = field("EnableGradGuard", { grad: true }, {
  create: () => new EnableGradGuard(),
  enter: () => EnableGradGuard.enter(),
  run: (fn) => EnableGradGuard.run(fn),
});
const disable = field("DisableRecordFunctionGuard", { observed: false }, {
  create: () => new DisableRecordFunctionGuard(),
  enter: () => DisableRecordFunctionGuard.enter(),
  run: (fn) => DisableRecordFunctionGuard.run(fn),
});

const someKeys = fc.subarray([...keys], { minLength: 1, maxLength: 3 });

const guard: fc.Arbitrary<GuardSpec> = fc.oneof(
  fc.boolean().map(gradMode),
  fc.constantFrom(noGrad, enableGrad, disable),
  fc.boolean().map(forwardGradMode),
  fc.boolean().map(inferenceMode),
  someKeys.map((some) => dispatch("included", some)),
  someKeys.map((some) => dispatch("excluded", some)),
  fc.tuple(
    fc.constantFrom(...infoKinds),
    fc.option(fc.nat(9).map((n) => ({ n })), { freq: 4, nil: null }),
  ).map(([kind, info]) => debugInfo(kind, info)),
);

const overlap: fc.Arbitrary<Step> = fc.array(guard, { minLength: 2, maxLength: 5 }).chain((
  guards,
) =>
  fc.shuffledSubarray(guards.map((_, index) => index), { minLength: guards.length })
    .map((order): Step => ({ kind: "overlap", guards, order }))
);

const set: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("include", "exclude"),
  key: fc.constantFrom(...keys),
});

const read: fc.Arbitrary<Step> = fc.constant({ kind: "read" });

function simple(kind: "throw" | "await" | "timer"): fc.Arbitrary<Step> {
  return fc.constant({ kind });
}

/** Programs that stay in one turn: blocks, overlaps, unscoped changes, throws. */
export const syncProgram: fc.Arbitrary<readonly Step[]> = fc.letrec<
  { step: Step; body: readonly Step[] }
>((tie) => ({
  step: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    read,
    set,
    overlap,
    simple("throw"),
    fc.record({ kind: fc.constantFrom("block", "run"), guard, body: tie("body") }),
    fc.record({ kind: fc.constant("catch" as const), body: tie("body") }),
  ),
  body: fc.array(tie("step"), { maxLength: 5 }),
})).body;

/** Programs of flows: guards for async functions, awaits, timers, flows side by side, throws. */
export const asyncProgram: fc.Arbitrary<readonly Step[]> = fc.letrec<
  { step: Step; body: readonly Step[] }
>((tie) => ({
  step: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    read,
    simple("await"),
    simple("timer"),
    simple("throw"),
    overlap,
    fc.record({ kind: fc.constantFrom("rest", "run"), guard, body: tie("body") }),
    fc.record({ kind: fc.constant("catch" as const), body: tie("body") }),
    fc.record({
      kind: fc.constant("all" as const),
      bodies: fc.array(tie("body"), { minLength: 2, maxLength: 3 }),
    }),
  ),
  body: fc.array(tie("step"), { maxLength: 5 }),
})).body;
