import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { generate } from "./generate.ts";

/** Generates into `scratch` and returns the files of `proto/gen` that differ. */
export async function drift(scratch: string): Promise<string[]> {
  await generate(scratch);
  const [fresh, kept] = await Promise.all([contents(join(scratch, "gen")), contents("proto/gen")]);
  const names = new Set([...fresh.keys(), ...kept.keys()]);
  return [...names].filter((name) => fresh.get(name) !== kept.get(name)).sort();
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
