/** How many source files a folder may have side by side, so that a reader can take it in. */
const FILES_MAX = 20;
/** Folders with one RPC per file, which a reader enters by name, and generated code. */
const LISTS = /\/(rpc|gen)(\/|$)/;
const TEST = /\.test\.tsx?$/;

/** Folders with too many source files side by side, as lines to be read. @param paths of all source files */
export function crowdedFolders(paths: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (!TEST.test(path) && !LISTS.test(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, files]) => files > FILES_MAX)
    .map(
      ([folder, files]) => `${folder} has ${files} source files side by side; give those that belong together a folder`,
    );
}
