import { programWords } from "@parley/shared/process/program-words";

/** The variable with the folder of the programs' binaries, if the test command compiled them. */
export const BINARIES_VARIABLE = "PARLEY_TEST_BINARIES";

/** The command line of a program in tests: the binary that the test command compiled, or else its source, `main`. */
export function testProgramWords(name: string, main: string): string[] {
  return programWords(name, main, process.env[BINARIES_VARIABLE] ?? "");
}
