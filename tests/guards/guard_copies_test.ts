import { assertEquals, assertStrictEquals } from "@std/assert";
import * as guards from "@thread-local/core/guards";
import * as observers from "@thread-local/core/observers";

/** The folders that a second copy of the package, under another URL, is made of. */
const FOLDERS = ["registry", "guards", "propagation", "rank_local", "observers"];

/** Loads a second copy into this isolate. */
async function loadCopy(): Promise<{ guards: typeof guards; observers: typeof observers }> {
  const copy = await Deno.makeTempDir();
  try {
    for (const folder of FOLDERS) {
      await Deno.mkdir(`${copy}/${folder}`);
      const from = new URL(`../../${folder}/`, import.meta.url);
      for await (const { name } of Deno.readDir(from)) {
        await Deno.copyFile(new URL(name, from), `${copy}/${folder}/${name}`);
      }
    }
    return {
      guards: await import(`file://${copy}/guards/mod.ts`),
      observers: await import(`file://${copy}/observers/mod.ts`),
    };
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}

const copy = await loadCopy();

Deno.test("two copies of the package see each other's guards", () => {
  const { Tracer } = guards.dispatchKeys;
  using _grad = new copy.guards.NoGradGuard();
  using _key = new guards.ExcludeDispatchKeyGuard(copy.guards.dispatchKeys.Tracer);
  using _info = new copy.guards.DebugInfoGuard(guards.DebugInfoKind.TEST_INFO, { test: 1 });

  assertEquals(guards.isGradEnabled(), false);
  assertEquals(copy.guards.isDispatchKeyExcluded(Tracer), true);
  assertEquals(guards.ThreadLocalDebugInfo.get(copy.guards.DebugInfoKind.TEST_INFO), { test: 1 });
  assertStrictEquals(copy.guards.AutogradState.current, guards.AutogradState.current);
});

Deno.test("two copies of the package close each other's guards out of order", () => {
  const outer = new guards.NoGradGuard();
  const inner = new copy.guards.AutoFwGradMode(false);
  using _ = guards.onMisuse(() => {});
  const closeOuter = outer[Symbol.dispose];
  const closeInner = inner[Symbol.dispose];

  closeOuter.call(outer);
  const between = [guards.isGradEnabled(), guards.isForwardGradEnabled()];
  closeInner.call(inner);

  assertEquals(between, [true, false]);
  assertEquals(guards.AutogradState.slot.isBound(), false);
});

Deno.test("two copies of the package share observers", () => {
  const names: string[] = [];
  const handle = copy.observers.addGlobalObserver({ start: ({ name }) => names.push(name) });

  observers.recordFunction("op", {}, () => {});
  observers.removeObserver(handle);
  copy.observers.recordFunction("after", {}, () => {});

  assertEquals(names, ["op"]);
});
