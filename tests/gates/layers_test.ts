import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { checkLayers, type Import, importsOf } from "./layers.ts";
import { ROOT } from "./project.ts";

function imports(from: string, to: string, typeOnly = false): Import {
  return { from, to, typeOnly };
}

function onlyFault(...graph: Import[]): string {
  const faults = checkLayers(graph);
  assertEquals(faults.length, 1, faults.join("\n"));
  return faults[0];
}

Deno.test("checkLayers() accepts imports from the folder itself and from those before it", () => {
  const graph = [
    imports("mod.ts", "propagation/mod.ts"),
    imports("propagation/mod.ts", "propagation/confine.ts"),
    imports("propagation/confine.ts", "registry/frame.ts"),
    imports("guards/state_guard.ts", "registry/state.ts"),
    imports("workers/pool.ts", "npm:poolifier-web-worker@^0"),
    imports("tests/registry/frame_test.ts", "mod.ts"),
    imports("tests/registry/frame_test.ts", "node:async_hooks"),
  ];

  const faults = checkLayers(graph);

  assertEquals(faults, []);
});

Deno.test("checkLayers() rejects an import that runs up", () => {
  const fault = onlyFault(imports("registry/state.ts", "guards/state_guard.ts"));

  assertStringIncludes(fault, "registry/state.ts must not import guards/state_guard.ts");
  assertStringIncludes(fault, "guards comes after registry");
});

Deno.test("checkLayers() rejects an import of a type that runs up", () => {
  const fault = onlyFault(imports("guards/state_guard.ts", "propagation/fork.ts", true));

  assertStringIncludes(fault, "propagation comes after guards");
});

Deno.test("checkLayers() rejects an import of mod.ts from a layer", () => {
  const fault = onlyFault(imports("interop/context.ts", "mod.ts"));

  assertStringIncludes(fault, "above every layer");
});

Deno.test("checkLayers() rejects an import of tests, benches or examples from the library", () => {
  for (const to of ["tests/npm/assert.ts", "benches/get.ts", "examples/queue.ts"]) {
    const fault = onlyFault(imports("workers/pool.ts", to));

    assertStringIncludes(fault, "not a part of the library");
  }
});

Deno.test("checkLayers() rejects a dependency of the core", () => {
  for (const to of ["npm:p-queue@^8", "jsr:@std/assert@^1", "node:async_hooks"]) {
    for (const from of ["registry/a.ts", "guards/a.ts", "propagation/a.ts", "rank_local/a.ts"]) {
      const fault = onlyFault(imports(from, to));

      assertStringIncludes(fault, "has no dependencies");
    }
  }
});

Deno.test("checkLayers() rejects files that import each other, and names the way around", () => {
  const fault = onlyFault(
    imports("registry/frame.ts", "registry/guard.ts"),
    imports("registry/guard.ts", "registry/misuse.ts"),
    imports("registry/misuse.ts", "registry/frame.ts"),
  );

  assertStringIncludes(
    fault,
    "registry/frame.ts → registry/guard.ts → registry/misuse.ts → registry/frame.ts",
  );
});

Deno.test("checkLayers() lets a file import the type of what imports it", () => {
  const faults = checkLayers([
    imports("registry/state.ts", "registry/inspect.ts"),
    imports("registry/inspect.ts", "registry/state.ts", true),
  ]);

  assertEquals(faults, []);
});

Deno.test("importsOf() reads a module graph, and leaves out what packages import", () => {
  const url = (path: string) => new URL(path, ROOT).href;

  const found = importsOf({
    modules: [
      {
        specifier: url("registry/a.ts"),
        dependencies: [
          { specifier: "./b.ts", code: { specifier: url("registry/b.ts") } },
          { specifier: "./c.ts", type: { specifier: url("registry/c.ts") } },
          { specifier: "p-queue", code: { specifier: "npm:p-queue@^8" } },
        ],
      },
      {
        specifier: "https://elsewhere/mod.ts",
        dependencies: [{ specifier: "./d.ts", code: { specifier: "https://elsewhere/d.ts" } }],
      },
    ],
  });

  assertEquals(found, [
    imports("registry/a.ts", "registry/b.ts"),
    imports("registry/a.ts", "registry/c.ts", true),
    imports("registry/a.ts", "npm:p-queue@^8"),
  ]);
});

Deno.test("importsOf() throws on an import that cannot be resolved", () => {
  const graph = {
    modules: [{
      specifier: new URL("registry/a.ts", ROOT).href,
      dependencies: [{ specifier: "absent", code: { error: "no such alias" } }],
    }],
  };

  assertThrows(() => importsOf(graph), Error, 'Cannot resolve "absent" in registry/a.ts');
});
