import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { GENERATED, generate } from "./generate.ts";

/** Generates into `scratch` and returns the generated files that differ from those kept. */
export async function drift(scratch: string): Promise<string[]> {
  await generate(scratch);
  const stale = await Promise.all(Object.values(GENERATED).map((folder) => differing(join(scratch, folder), folder)));
  return stale.flat().sort();
}

async function differing(freshFolder: string, keptFolder: string): Promise<string[]> {
  const [fresh, kept] = await Promise.all([contents(freshFolder), contents(keptFolder)]);
  const names = new Set([...fresh.keys(), ...kept.keys()]);
  return [...names].filter((name) => fresh.get(name) !== kept.get(name)).map((name) => join(keptFolder, name));
}

async function contents(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.map(async (file) => [file.slice(folder.length + 1), await digest(file)] as const);
  return new Map(await Promise.all(pairs));
}

async function digest(file: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
}
