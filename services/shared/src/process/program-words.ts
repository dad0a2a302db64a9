import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The words that run a program: its binary, which loads in a fraction of the time, or else its source.
 * @param main path of the source
 * @param binaries folder with a binary for some of the programs, each named for its program; "" for none
 */
export function programWords(name: string, main: string, binaries: string): string[] {
  const binary = join(binaries, name);
  if (binaries !== "" && existsSync(binary)) return [binary];
  // A .env file of the checkout is the developer's.
  return [process.execPath, "--no-env-file", main];
}
