/**
 * Rejects an exported symbol without docs, and an exported function or class without an example
 * that runs. `deno task docs` checks every entry point.
 *
 * @module
 */
import { deno, pathInProject, readProject } from "./project.ts";

interface JsDoc {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string; readonly doc?: string }[];
}

interface Member {
  readonly name?: string;
  readonly jsDoc?: JsDoc;
  readonly accessibility?: "private" | "protected" | "public";
}

interface Definition {
  readonly constructors?: readonly Member[];
  readonly properties?: readonly Member[];
  readonly methods?: readonly Member[];
  readonly callSignatures?: readonly Member[];
  readonly members?: readonly Member[];
  readonly elements?: readonly Exported[];
}

interface Declaration {
  readonly kind: string;
  readonly declarationKind: string;
  readonly location: { readonly filename: string; readonly line: number };
  readonly jsDoc?: JsDoc;
  readonly def?: Definition;
}

interface Exported {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

/** The part of `deno doc --json` that is used: by the entry point's URL. */
export interface Docs {
  readonly nodes: Readonly<
    Record<string, { readonly module_doc?: JsDoc; readonly symbols: readonly Exported[] }>
  >;
}

/** What the docs cover. */
export interface Coverage {
  /** Entry points, exported symbols and their public members: how many there are. */
  symbols: number;
  /** Exported functions and classes: how many there are. */
  examples: number;
  /** What is missing, a sentence each. */
  readonly faults: string[];
}

/** Goes through the docs of every entry point; a symbol that two of them export counts once. */
export function coverageOf({ nodes }: Docs): Coverage {
  const coverage: Coverage = { symbols: 0, examples: 0, faults: [] };
  const seen = new Set<string>();
  for (const [url, { module_doc, symbols }] of Object.entries(nodes)) {
    coverage.symbols++;
    if (!isDocumented(module_doc)) {
      coverage.faults.push(`${pathInProject(url) ?? url} has no @module docs`);
    }
    const unseen = symbols.filter((symbol) => !seen.has(whereIs(symbol)));
    for (const symbol of unseen) seen.add(whereIs(symbol));
    coverSymbols(unseen, coverage);
  }
  return coverage;
}

function whereIs({ name, declarations }: Exported): string {
  const { filename, line } = declarations[0].location;
  return `${name} (${pathInProject(filename) ?? filename}:${line + 1})`;
}

function coverSymbols(symbols: readonly Exported[], coverage: Coverage): void {
  for (const symbol of symbols) {
    const exported = symbol.declarations.filter((each) => each.declarationKind === "export");
    if (exported.length > 0) coverSymbol(whereIs(symbol), exported, coverage);
  }
}

function coverSymbol(
  where: string,
  declarations: readonly Declaration[],
  coverage: Coverage,
): void {
  coverage.symbols++;
  if (!declarations.some(({ jsDoc }) => isDocumented(jsDoc))) {
    coverage.faults.push(`${where} has no docs`);
  }
  if (declarations.some(({ kind }) => kind === "function" || kind === "class")) {
    coverage.examples++;
    if (!declarations.some(({ jsDoc }) => hasExecutedExample(jsDoc))) {
      coverage.faults.push(`${where} has no @example with a \`\`\`ts block that is executed`);
    }
  }
  for (const { def } of declarations) {
    for (const [name, overloads] of publicMembers(def)) {
      coverage.symbols++;
      if (!overloads.some(({ jsDoc }) => isDocumented(jsDoc))) {
        coverage.faults.push(`${where}: its member ${name} has no docs`);
      }
    }
    if (def?.elements !== undefined) coverSymbols(def.elements, coverage);
  }
}

/** By name: overloads, and a getter with its setter, are one member. */
function publicMembers(def: Definition = {}): Map<string, Member[]> {
  const members = [
    def.constructors,
    def.properties,
    def.methods,
    def.callSignatures,
    def.members,
  ].flatMap((list = []) => list);
  const open = members.filter(({ accessibility, jsDoc }) =>
    accessibility !== "private" && !isInternal(jsDoc)
  );
  return Map.groupBy(open, ({ name }) => name ?? "(call or construct signature)");
}

function isInternal(jsDoc: JsDoc | undefined): boolean {
  return jsDoc?.tags?.some(({ kind }) => kind === "internal") ?? false;
}

function isDocumented(jsDoc: JsDoc | undefined): boolean {
  return (jsDoc?.doc ?? "").trim() !== "";
}

const EXECUTED_BLOCK = /^```(?:ts|typescript|js|javascript|tsx|jsx)(?![^\n]*\bignore\b)[^\n]*\n/m;

function hasExecutedExample(jsDoc: JsDoc | undefined): boolean {
  return jsDoc?.tags?.some(({ kind, doc = "" }) =>
    kind === "example" && EXECUTED_BLOCK.test(doc)
  ) ??
    false;
}

/** The docs of every entry point. Asked for together, re-exports would come without theirs. */
async function readDocs(): Promise<Docs> {
  const nodes: Docs["nodes"][] = [];
  for (const entry of Object.values((await readProject()).exports)) {
    const docs: Docs = JSON.parse(await deno("doc", "--json", entry));
    nodes.push(docs.nodes);
  }
  return { nodes: Object.assign({}, ...nodes) };
}

if (import.meta.main) {
  const { symbols, examples, faults } = coverageOf(await readDocs());
  for (const fault of faults) console.error(fault);
  console.log(
    `${symbols} symbols, ${examples} functions and classes to be shown by an example: ` +
      `${faults.length} of them lack something`,
  );
  Deno.exit(faults.length === 0 ? 0 : 1);
}
