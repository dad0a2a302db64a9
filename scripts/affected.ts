import { dirname, relative, resolve } from "node:path";
import { $ } from "bun";

const SOURCES = new Bun.Glob("**/*.{ts,mjs}");
const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Files that differ from a commit, those that git does not know yet among them. @param ref a commit or branch */
export async function changedFiles(ref: string): Promise<string[]> {
  const [tracked, untracked] = await Promise.all([
    $`git diff --name-only ${ref}`.text(),
    $`git ls-files --others --exclude-standard`.text(),
  ]);
  return `${tracked}${untracked}`.split("\n").filter(Boolean);
}

/**
 * Those of some files that import a changed file, directly or through others. What a test starts as a process of its own is not
 * an import.
 * @param files paths from the root of the checkout, as are those of `changed`
 */
export async function importersOf(changed: readonly string[], files: readonly string[]): Promise<string[]> {
  const importers = await readImporters();
  const affected = new Set(changed.map((file) => resolve(file)));
  for (const file of affected) for (const importer of importers.get(file) ?? []) affected.add(importer);
  return files.filter((file) => affected.has(resolve(file)));
}

/** Who imports a file, by its absolute path. */
async function readImporters(): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>();
  for await (const path of SOURCES.scan()) {
    if (path.includes("node_modules/")) continue;
    const importer = resolve(path);
    for (const imported of await importsOf(importer)) {
      if (relative(".", imported).includes("node_modules/")) continue;
      importers.set(imported, [...(importers.get(imported) ?? []), importer]);
    }
  }
  return importers;
}

async function importsOf(file: string): Promise<string[]> {
  const text = await Bun.file(file).text();
  return transpiler.scanImports(text).flatMap(({ path }) => {
    try {
      return [Bun.resolveSync(path, dirname(file))];
    } catch {
      // A module of the runtime's own, or one that is not installed.
      return [];
    }
  });
}
