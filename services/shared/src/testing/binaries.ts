import { existsSync } from "node:fs";
import { join } from "node:path";

/** Names the folder of the programs' binaries, if the test command compiled them. */
export const BINARIES_VARIABLE = "PARLEY_TEST_BINARIES";

/**
 * The words that run a program: its binary, which loads in a fraction of the time, or else its source.
 * @param main path of the source
 * @param folder with a binary for some of the programs, each named for its program
 */
export function programWords(name: string, main: string, folder = process.env[BINARIES_VARIABLE] ?? ""): string[] {
  const binary = join(folder, name);
  if (folder !== "" && existsSync(binary)) return [binary];
  // A .env file of the checkout is the developer's.
  return [process.execPath, "--no-env-file", main];
}
