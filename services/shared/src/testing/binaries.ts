import { programWords } from "../program-words.ts";

/** Names the folder of the programs' binaries, if the test command compiled them. */
export const BINARIES_VARIABLE = "PARLEY_TEST_BINARIES";

/** The words with which a test runs a program: of the binary that the test command compiled, or else of its source, `main`. */
export function testProgramWords(name: string, main: string): string[] {
  return programWords(name, main, process.env[BINARIES_VARIABLE] ?? "");
}
