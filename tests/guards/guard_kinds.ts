import {
  AutoFwGradMode,
  AutoGradMode,
  DebugInfoGuard,
  DebugInfoKind,
  dispatchKeys,
  EnableGradGuard,
  ExcludeDispatchKeyGuard,
  type Guard,
  IncludeDispatchKeyGuard,
  InferenceMode,
  isDispatchKeyExcluded,
  isDispatchKeyIncluded,
  isForwardGradEnabled,
  isGradEnabled,
  isInferenceModeEnabled,
  NoGradGuard,
  ThreadLocalDebugInfo,
} from "@thread-local/core/guards";
import { DisableRecordFunctionGuard, isRecordFunctionEnabled } from "@thread-local/core/observers";

/** One of PyTorch's guards, in its three forms, and what is seen outside and inside it. */
export interface GuardKind {
  readonly name: string;
  create(): Guard;
  enter(): Promise<Guard>;
  run<R>(fn: () => R): R;
  /** Where it makes a difference. */
  around<R>(fn: () => R): R;
  read(): unknown;
  readonly outside: unknown;
  readonly inside: unknown;
}

const { Tracer } = dispatchKeys;
const { TEST_INFO } = DebugInfoKind;
const INFO = { test: 1 };

/** Every guard class. */
export const guardKinds: readonly GuardKind[] = [
  {
    name: "AutoGradMode",
    create: () => new AutoGradMode(false),
    enter: () => AutoGradMode.enter(false),
    run: (fn) => AutoGradMode.run(false, fn),
    around: (fn) => fn(),
    read: isGradEnabled,
    outside: true,
    inside: false,
  },
  {
    name: "NoGradGuard",
    create: () => new NoGradGuard(),
    enter: () => NoGradGuard.enter(),
    run: (fn) => NoGradGuard.run(fn),
    around: (fn) => fn(),
    read: isGradEnabled,
    outside: true,
    inside: false,
  },
  {
    name: "EnableGradGuard",
    create: () => new EnableGradGuard(),
    enter: () => EnableGradGuard.enter(),
    run: (fn) => EnableGradGuard.run(fn),
    around: (fn) => NoGradGuard.run(fn),
    read: isGradEnabled,
    outside: false,
    inside: true,
  },
  {
    name: "AutoFwGradMode",
    create: () => new AutoFwGradMode(false),
    enter: () => AutoFwGradMode.enter(false),
    run: (fn) => AutoFwGradMode.run(false, fn),
    around: (fn) => fn(),
    read: isForwardGradEnabled,
    outside: true,
    inside: false,
  },
  {
    name: "InferenceMode",
    create: () => new InferenceMode(),
    enter: () => InferenceMode.enter(),
    run: (fn) => InferenceMode.run(true, fn),
    around: (fn) => fn(),
    read: isInferenceModeEnabled,
    outside: false,
    inside: true,
  },
  {
    name: "IncludeDispatchKeyGuard",
    create: () => new IncludeDispatchKeyGuard(Tracer),
    enter: () => IncludeDispatchKeyGuard.enter(Tracer),
    run: (fn) => IncludeDispatchKeyGuard.run(Tracer, fn),
    around: (fn) => fn(),
    read: () => isDispatchKeyIncluded(Tracer),
    outside: false,
    inside: true,
  },
  {
    name: "ExcludeDispatchKeyGuard",
    create: () => new ExcludeDispatchKeyGuard(Tracer),
    enter: () => ExcludeDispatchKeyGuard.enter(Tracer),
    run: (fn) => ExcludeDispatchKeyGuard.run(Tracer, fn),
    around: (fn) => fn(),
    read: () => isDispatchKeyExcluded(Tracer),
    outside: false,
    inside: true,
  },
  {
    name: "DebugInfoGuard",
    create: () => new DebugInfoGuard(TEST_INFO, INFO),
    enter: () => DebugInfoGuard.enter(TEST_INFO, INFO),
    run: (fn) => DebugInfoGuard.run(TEST_INFO, INFO, fn),
    around: (fn) => fn(),
    read: () => ThreadLocalDebugInfo.get(TEST_INFO),
    outside: null,
    inside: INFO,
  },
  {
    name: "DisableRecordFunctionGuard",
    create: () => new DisableRecordFunctionGuard(),
    enter: () => DisableRecordFunctionGuard.enter(),
    run: (fn) => DisableRecordFunctionGuard.run(fn),
    around: (fn) => fn(),
    read: isRecordFunctionEnabled,
    outside: true,
    inside: false,
  },
];
