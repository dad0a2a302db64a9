import { isNeed, type NeedName } from "../services/shared/src/testing/programs.ts";
import { readImports } from "./imports.ts";

/** As the formatter leaves it. */
const CALL = /\bobtain\("(\w+)"\)/g;

/** The programs that each test file obtains, itself or by what it imports, so that they can be installed before. */
export async function needsOf(files: readonly string[]): Promise<Map<string, NeedName[]>> {
  const imports = await readImports("runs");
  const obtained = new Map<string, NeedName[]>();
  for (const file of new Set([...files, ...imports.keys()])) {
    const names = (await Bun.file(file).text()).matchAll(CALL).map(([, name = ""]) => name);
    obtained.set(file, [...names.filter(isNeed)]);
  }
  return new Map(
    files.map((file) => {
      const loaded = new Set([file]);
      for (const path of loaded) for (const imported of imports.get(path) ?? []) loaded.add(imported);
      return [file, [...new Set([...loaded].flatMap((path) => obtained.get(path) ?? []))].sort()];
    }),
  );
}
