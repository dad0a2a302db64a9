import { resolve } from "node:path";
import { ConfigError } from "@parley/shared/config";
import { BUILT_IN } from "./built-in.ts";
import type { Catalogue } from "./catalogue.ts";
import { CatalogueFileError, readCatalogueFile } from "./file.ts";
import { mergeFile } from "./merge.ts";

/**
 * Returns the built-in catalogue with an operator's file merged over it.
 * @param path the value of `PARLEY_CATALOGUE`; empty for none
 * @throws ConfigError naming the file, the place in it and the fix
 */
export async function loadCatalogue(path: string): Promise<Catalogue> {
  if (path === "") return BUILT_IN;
  const file = Bun.file(resolve(path));
  const refuse = (what: string) => new ConfigError(`PARLEY_CATALOGUE: ${resolve(path)} ${what}`);
  let text: string;
  try {
    text = await file.text();
  } catch (error) {
    const cause = error instanceof Error && "code" in error ? error.code : error;
    throw refuse(`cannot be read (${cause}): name a JSON file that this process may read, or none`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw refuse(`is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  try {
    const added = readCatalogueFile(json);
    return mergeFile(BUILT_IN, { updated_at: new Date(file.lastModified).toISOString(), ...added });
  } catch (error) {
    if (error instanceof CatalogueFileError) throw refuse(`is not a catalogue: ${error.message}`);
    throw error;
  }
}
