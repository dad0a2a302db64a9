import { parseArgs } from "node:util";

export interface TestOptions {
  /** Words that the wanted files' paths contain; empty for all files. */
  paths: readonly string[];
  /** The commit since which what wanted files import has changed; undefined: at any time. */
  changedSince: string | undefined;
  /** A regular expression for the names of the wanted tests; undefined: all. */
  name: string | undefined;
}

const TAKES =
  "The test command takes words that paths contain or --changed[=ref], and -t PATTERN for the names of tests";

/** Reads the arguments of the test command. @throws Error, with a sentence for whoever typed them */
export function readTestOptions(given: readonly string[]): TestOptions {
  const { values, positionals: paths } = parse(given);
  const { changed: changedSince, "test-name-pattern": name } = values;
  if (changedSince !== undefined && paths.length > 0)
    throw new Error(`${paths[0]} cannot be combined with --changed. ${TAKES}.`);
  return { paths, changedSince, name };
}

function parse(given: readonly string[]) {
  // An option whose value may be left out.
  const args = given.map((arg) => (arg === "--changed" ? "--changed=HEAD" : arg));
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { changed: { type: "string" }, "test-name-pattern": { type: "string", short: "t" } },
    });
  } catch (error) {
    const [fault] = (error as Error).message.split(/[.\n]/);
    throw new Error(`${fault}. ${TAKES}.`);
  }
}
