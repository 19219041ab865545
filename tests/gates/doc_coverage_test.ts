import { assertEquals, assertStringIncludes } from "@std/assert";
import { coverageOf, type Docs } from "./doc_coverage.ts";

type Symbols = Docs["nodes"][string]["symbols"];
type Declaration = Symbols[number]["declarations"][number];

const EXAMPLE = { kind: "example", doc: "Title\n```ts\nassert(true);\n```" };

/** A declaration that lacks nothing, but for what `changes` say. */
function declaration(kind: string, changes: Partial<Declaration> = {}): Declaration {
  return {
    kind,
    declarationKind: "export",
    location: { filename: "file:///library/mod.ts", line: 0 },
    jsDoc: { doc: "Does it.", tags: [EXAMPLE] },
    ...changes,
  };
}

function docsOf(...declarations: Declaration[]): Docs {
  return docs([{ name: "subject", declarations }]);
}

function docs(symbols: Symbols): Docs {
  return { nodes: { "file:///library/mod.ts": { module_doc: { doc: "The module." }, symbols } } };
}

function onlyFault(docs: Docs): string {
  const { faults } = coverageOf(docs);
  assertEquals(faults.length, 1, faults.join("\n"));
  return faults[0];
}

Deno.test("coverageOf() finds no fault in what is documented", () => {
  const { symbols, examples, faults } = coverageOf(
    docsOf(declaration("class", { def: { methods: [{ name: "run", jsDoc: { doc: "Runs." } }] } })),
  );

  // The module, the class and its method.
  assertEquals([symbols, examples, faults], [3, 1, []]);
});

Deno.test("coverageOf() rejects an exported symbol without docs", () => {
  for (const kind of ["interface", "typeAlias", "variable", "enum"]) {
    const fault = onlyFault(docsOf(declaration(kind, { jsDoc: undefined })));

    assertStringIncludes(fault, "subject (file:///library/mod.ts:1) has no docs");
  }
});

Deno.test("coverageOf() rejects docs that consist of tags", () => {
  const fault = onlyFault(docsOf(declaration("function", { jsDoc: { tags: [EXAMPLE] } })));

  assertStringIncludes(fault, "has no docs");
});

Deno.test("coverageOf() rejects a function and a class without an example", () => {
  for (const kind of ["function", "class"]) {
    const fault = onlyFault(docsOf(declaration(kind, { jsDoc: { doc: "Does it." } })));

    assertStringIncludes(fault, "has no @example");
  }
});

Deno.test("coverageOf() asks no example of other symbols", () => {
  const { faults } = coverageOf(docsOf(declaration("interface", { jsDoc: { doc: "It is." } })));

  assertEquals(faults, []);
});

Deno.test("coverageOf() rejects an example that is not executed", () => {
  for (const doc of ["Call it.", "```ts ignore\nassert(true);\n```", "```sh\ndeno run\n```"]) {
    const jsDoc = { doc: "Does it.", tags: [{ kind: "example", doc }] };

    const fault = onlyFault(docsOf(declaration("function", { jsDoc })));

    assertStringIncludes(fault, "has no @example");
  }
});

Deno.test("coverageOf() rejects a public member without docs", () => {
  const member = { name: "run" };
  const kinds = ["constructors", "properties", "methods", "callSignatures", "members"] as const;
  for (const kind of kinds) {
    const fault = onlyFault(docsOf(declaration("class", { def: { [kind]: [member] } })));

    assertStringIncludes(fault, "its member run has no docs");
  }
});

Deno.test("coverageOf() lets private and internal members be", () => {
  const methods = [
    { name: "hidden", accessibility: "private" as const },
    { name: "inner", jsDoc: { tags: [{ kind: "internal" }] } },
  ];

  const { faults } = coverageOf(docsOf(declaration("class", { def: { methods } })));

  assertEquals(faults, []);
});

Deno.test("coverageOf() takes overloads and their implementation for one", () => {
  const methods = [{ name: "run", jsDoc: { doc: "Runs." } }, { name: "run" }];

  const { symbols, faults } = coverageOf(
    docsOf(
      declaration("class", { def: { methods } }),
      declaration("class", { jsDoc: undefined }),
    ),
  );

  assertEquals([symbols, faults], [3, []]);
});

Deno.test("coverageOf() looks into namespaces", () => {
  const elements = [{
    name: "inner",
    declarations: [declaration("function", { jsDoc: { doc: "Does it." } })],
  }];

  const fault = onlyFault(docsOf(declaration("namespace", { def: { elements } })));

  assertStringIncludes(fault, "inner (file:///library/mod.ts:1) has no @example");
});

Deno.test("coverageOf() counts a symbol once that two entry points export", () => {
  const { "file:///library/mod.ts": one } = docsOf(declaration("function")).nodes;

  const { symbols, examples } = coverageOf({ nodes: { "file:///a.ts": one, "file:///b.ts": one } });

  assertEquals([symbols, examples], [3, 1]);
});

Deno.test("coverageOf() leaves out what is not exported", () => {
  const { symbols } = coverageOf(
    docsOf(declaration("function", { declarationKind: "private", jsDoc: undefined })),
  );

  assertEquals(symbols, 1);
});

Deno.test("coverageOf() rejects an entry point without docs of the module", () => {
  const fault = onlyFault({ nodes: { "file:///library/mod.ts": { symbols: [] } } });

  assertStringIncludes(fault, "file:///library/mod.ts has no @module docs");
});
