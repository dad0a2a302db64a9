import { dirname, relative, resolve } from "node:path";

/** The imports of each source file within this checkout, by their paths from its root. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const SOURCES = new Bun.Glob("**/*.{ts,tsx,mjs}");
/** As the formatter leaves them: a statement that begins its line, or a call. */
const IMPORT = /^(?:import|export)\b[^"'`;]*\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
const transpiler = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

type Kind = "all" | "runs";
const known = new Map<Kind, Promise<Imports>>();

/**
 * Reads the sources once, since a run asks several times.
 * @param of "all" imports, those of types among them, or only what is there when the file "runs"
 */
export function readImports(of: Kind): Promise<Imports> {
  const imports = known.get(of) ?? readSources(of);
  known.set(of, imports);
  return imports;
}

async function readSources(of: Kind): Promise<Imports> {
  const imports = new Map<string, string[]>();
  for await (const path of SOURCES.scan()) {
    if (path.includes("node_modules/")) continue;
    const text = await Bun.file(path).text();
    const named =
      of === "all"
        ? namesOf(text)
        : transpiler[path.endsWith(".tsx") ? "tsx" : "ts"].scanImports(text).map((found) => found.path);
    imports.set(path, [...new Set(named.flatMap((name) => sourceOf(path, name)))]);
  }
  return imports;
}

function namesOf(text: string): string[] {
  return text
    .matchAll(IMPORT)
    .flatMap((match) => match.slice(1).filter((name) => name !== undefined))
    .toArray();
}

/** None for a module of the runtime's own, of a dependency, or that is not installed. */
function sourceOf(importer: string, name: string): string[] {
  try {
    const path = relative(".", Bun.resolveSync(name, dirname(resolve(importer))));
    return path.includes("node_modules/") || path === name ? [] : [path];
  } catch {
    return [];
  }
}
