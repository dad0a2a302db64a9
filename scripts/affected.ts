import { $ } from "bun";
import { readImports } from "./imports.ts";

/** Files that differ from a commit, including untracked ones. @param ref a commit or branch */
export async function changedFiles(ref: string): Promise<string[]> {
  const [tracked, untracked] = await Promise.all([
    $`git diff --name-only ${ref}`.text(),
    $`git ls-files --others --exclude-standard`.text(),
  ]);
  return `${tracked}${untracked}`.split("\n").filter(Boolean);
}

/**
 * The files that import a changed file, directly or indirectly. A process that a test starts does not count as an
 * import.
 * @param files paths from the root of the checkout, like those of `changed`
 */
export async function importersOf(changed: readonly string[], files: readonly string[]): Promise<string[]> {
  const importers = await readImporters();
  const affected = new Set(changed);
  for (const file of affected) for (const importer of importers.get(file) ?? []) affected.add(importer);
  return files.filter((file) => affected.has(file));
}

async function readImporters(): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>();
  for (const [importer, imported] of await readImports("runs")) {
    for (const file of imported) importers.set(file, [...(importers.get(file) ?? []), importer]);
  }
  return importers;
}
