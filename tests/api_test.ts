// The public names are fixed: a change here is a change for every user.
import { assertEquals } from "@std/assert";
import * as core from "@thread-local/core";
import * as guards from "@thread-local/core/guards";
import * as observers from "@thread-local/core/observers";
import * as propagation from "@thread-local/core/propagation";
import * as rankLocal from "@thread-local/core/rank-local";
import * as registry from "@thread-local/core/registry";
import * as workers from "@thread-local/core/workers";

/** The names of what an entry point has at run time. */
const exported: Record<string, readonly [module: object, names: readonly string[]]> = {
  "./registry": [registry, [
    "DuplicateSlotError",
    "Guard",
    "ThreadLocal",
    "ThreadLocalState",
    "contextStorage",
    "onMisuse",
    "registry",
    "restoreThreadLocalState",
    "saveThreadLocalState",
  ]],
  "./guards": [guards, [
    "AutoFwGradMode",
    "AutoGradMode",
    "AutogradState",
    "DebugInfoGuard",
    "DebugInfoKind",
    "DispatchKey",
    "DispatchKeySet",
    "EditGuard",
    "EnableGradGuard",
    "ExcludeDispatchKeyGuard",
    "Guard",
    "IncludeDispatchKeyGuard",
    "InferenceMode",
    "LocalDispatchKeys",
    "NoGradGuard",
    "ThreadLocalDebugInfo",
    "ThreadLocalObjects",
    "ThreadLocalStateGuard",
    "autocastDispatchKeys",
    "autogradDispatchKeys",
    "computeDispatchKeys",
    "dispatchKeyNames",
    "dispatchKeys",
    "isDispatchKeyExcluded",
    "isDispatchKeyIncluded",
    "isForwardGradEnabled",
    "isGradEnabled",
    "isInferenceModeEnabled",
    "isMultithreadingEnabled",
    "onMisuse",
  ]],
  "./propagation": [propagation, [
    "bindEmitter",
    "bindIterator",
    "bindThreadLocalState",
    "detached",
    "fork",
    "parallelFor",
    "scoped",
  ]],
  "./rank-local": [rankLocal, [
    "Node",
    "RankLocal",
    "Thread",
    "currentNode",
    "currentThread",
    "endForeignThread",
  ]],
  "./observers": [observers, [
    "DisableRecordFunctionGuard",
    "RecordFunction",
    "addGlobalObserver",
    "addThreadLocalObserver",
    "disableObserver",
    "enableObserver",
    "isRecordFunctionEnabled",
    "recordFunction",
    "removeObserver",
  ]],
  "./workers": [workers, ["WorkerLostError", "bindPort", "parallelFor", "threadLocalPool"]],
};

for (const [entry, [module, names]] of Object.entries(exported)) {
  Deno.test(`${entry} exports what it says, and nothing else`, () => {
    assertEquals(Object.keys(module).sort(), names);
  });
}

Deno.test(". exports what the four layers of the core do", () => {
  const layers = ["./registry", "./guards", "./propagation", "./rank-local"];

  const names = new Set(layers.flatMap((entry) => exported[entry][1]));

  assertEquals(Object.keys(core).sort(), [...names].sort());
});

const methods: Record<string, readonly [prototype: object, names: readonly string[]]> = {
  "ThreadLocal": [core.ThreadLocal.prototype, [
    "clear",
    "enter",
    "get",
    "isBound",
    "run",
    "set",
    "with",
  ]],
  "ThreadLocalState": [core.ThreadLocalState.prototype, [
    "get",
    "has",
    "omit",
    "pick",
    "run",
    "toWire",
    "with",
    "without",
  ]],
  "Node": [core.Node.prototype, ["evaluate", "evaluateWith", "toWire"]],
  "RankLocal": [core.RankLocal.prototype, ["delete", "findAcrossAll", "get"]],
  "Thread": [core.Thread.prototype, ["end"]],
};

for (const [name, [prototype, names]] of Object.entries(methods)) {
  Deno.test(`${name} has the methods ${names.join(", ")}`, () => {
    const missing = names.filter((method) =>
      typeof Object.getOwnPropertyDescriptor(prototype, method)?.value !== "function"
    );

    assertEquals(missing, []);
  });
}
