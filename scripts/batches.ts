/** The folders of the files that take long, the longest first: a long file that starts last would run alone at the end. */
const LONGEST = [
  "tests/api/contract.",
  "tests/faults/",
  "cli/tests/cli.",
  "tests/deploy/",
  "tests/stack/",
  "tests/",
  "cli/tests/",
  "services/conversation/tests/",
  "services/webhook-dispatcher/tests/",
  "services/voice/tests/",
];

/**
 * The files that run in one process each, in the order to start them. A file has a process for itself, so that none sees
 * what another left behind: a hung socket of one file has kept the next from ending. Unit tests, which stand beside what
 * they test and leave nothing, share one per part, because loading it takes longer than running them.
 */
export function inBatches(files: readonly string[]): string[][] {
  const batches = Map.groupBy(files, (file) => unitTestsOf(file) ?? file);
  const rank = ([file = ""]: readonly string[]) => {
    const at = LONGEST.findIndex((folder) => file.startsWith(folder));
    return at < 0 ? LONGEST.length : at;
  };
  return [...batches.values()].toSorted((a, b) => rank(a) - rank(b));
}

/** The part whose unit test a file is. */
function unitTestsOf(file: string): string | undefined {
  return /^.*?\/src\//.exec(file)?.[0];
}
