/**
 * Rejects an import that runs up or sideways. `deno task layers` checks the library's real graph.
 *
 * @module
 */
import { deno, pathInProject, readProject } from "./project.ts";

/** The folders of the library: each imports only from itself and from those before it. */
const LAYERS: readonly string[] = [
  "registry",
  "guards",
  "propagation",
  "rank_local",
  "observers",
  "workers",
  "distributed",
  "interop",
];

/** The folders that depend on nothing but the language and the platform's globals. */
const CORE: ReadonlySet<string> = new Set(["registry", "guards", "propagation", "rank_local"]);

/** The file at the top: it imports from every layer, and no layer from it. */
const TOP = "mod.ts";

/** One edge of the module graph. */
export interface Import {
  /** The importing file, as a path from the root of the project. */
  readonly from: string;
  /** The imported file in the same form; a URL (`npm:…`, `node:…`) if it is not the project's. */
  readonly to: string;
  /** `import type`: it is no edge at run time. */
  readonly typeOnly: boolean;
}

/** What is wrong with these imports, a sentence each; nothing if they are right. */
export function checkLayers(imports: readonly Import[]): string[] {
  return [...imports.flatMap(checkImport), ...findCycles(imports)];
}

function checkImport({ from, to }: Import): string[] {
  if (!isOfLibrary(from)) return [];
  const reject = (why: string) => [`${from} must not import ${to}: ${why}`];
  if (to.includes(":")) {
    return CORE.has(layerOf(from)) || from === TOP
      ? reject(`${layerOf(from)} has no dependencies`)
      : [];
  }
  if (to === TOP) return reject("it is above every layer. Import the file that declares it");
  if (!isOfLibrary(to)) return reject("it is not a part of the library and is not published");
  if (from === TOP || LAYERS.indexOf(layerOf(to)) <= LAYERS.indexOf(layerOf(from))) return [];
  return reject(`${layerOf(to)} comes after ${layerOf(from)}. Layers: ${LAYERS.join(" → ")}`);
}

function layerOf(path: string): string {
  return path.split("/")[0];
}

function isOfLibrary(path: string): boolean {
  return path === TOP || LAYERS.includes(layerOf(path));
}

/**
 * Files that are needed before they are evaluated. Without cycles the files of a folder have an
 * order, and its first can be read alone.
 */
function findCycles(imports: readonly Import[]): string[] {
  const targets = Map.groupBy(imports.filter(({ typeOnly }) => !typeOnly), ({ from }) => from);
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) {
      cycles.push(`These files import each other: ${[...path.slice(start), file].join(" → ")}`);
    }
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const { to } of targets.get(file) ?? []) visit(to);
    path.pop();
    done.add(file);
  };
  for (const file of targets.keys()) visit(file);
  return cycles;
}

/** The part of `deno info --json` that is used. */
interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly error?: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly code?: Resolution;
      readonly type?: Resolution;
    }[];
  }[];
}

interface Resolution {
  readonly specifier?: string;
  readonly error?: string;
}

/** The imports of a graph's files that are the project's. */
export function importsOf(graph: ModuleGraph): Import[] {
  return graph.modules.flatMap(({ specifier, dependencies = [] }) => {
    const from = pathInProject(specifier);
    if (from === undefined) return [];
    return dependencies.map(({ specifier: written, code, type }) => {
      const url = code?.specifier ?? type?.specifier;
      if (url === undefined) {
        throw new Error(`Cannot resolve "${written}" in ${from}: ${(code ?? type)?.error}`);
      }
      return { from, to: pathInProject(url) ?? url, typeOnly: code === undefined };
    });
  });
}

/** The imports of everything that the entry points reach, each once. */
async function readImports(): Promise<Import[]> {
  const found = new Map<string, Import>();
  for (const entry of Object.values((await readProject()).exports)) {
    const graph: ModuleGraph = JSON.parse(await deno("info", "--json", entry));
    for (const each of importsOf(graph)) found.set(JSON.stringify(each), each);
  }
  return [...found.values()];
}

if (import.meta.main) {
  const imports = await readImports();
  const faults = checkLayers(imports);
  for (const fault of faults) console.error(fault);
  console.log(`${imports.length} imports, ${faults.length} of them wrong`);
  Deno.exit(faults.length === 0 ? 0 : 1);
}
