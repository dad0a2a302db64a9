/**
 * The folders of the files and batches that take long, the longest first: one that starts last would run alone at the end, so
 * what takes a second or two comes last.
 */
const LONGEST = [
  "tests/api/contract.",
  "tests/faults/",
  "tests/deploy/",
  "tests/stack/",
  "tests/",
  "cli/tests/",
  "services/conversation/tests/",
  "services/knowledge/tests/",
  "services/messaging/tests/",
  "services/account/tests/",
  "services/voice/tests/killed-processes.",
  "services/webhook-dispatcher/tests/",
  "services/shared/tests/",
  "services/agent/tests/",
  "services/prompt/tests/",
  "gateway/tests/",
  "services/voice/tests/",
];

/**
 * Folders with many files that take some seconds, of which loading the code is a large part. Three files of the API take far
 * longer.
 */
const SHORT =
  /^(?:(?:cli|gateway|scripts|services\/(?:account|agent|conversation|knowledge|prompt|shared|webhook-dispatcher))\/tests|services\/messaging\/tests\/whatsapp|services\/voice\/tests\/(?:calls|carriers|outbound)|tests\/api(?!\/(?:contract|documentation|openapi-examples)\.))\/[^/]+$/;
/** A batch of these takes about as long as a test of the whole stack. */
const SHORT_AT_MOST = 10;
/** Their files replace nothing that is global for longer than a test, so each finds the modules that the others have loaded. */
const LEAVES_NOTHING = /^services\/(?:account|agent|conversation|prompt)\/tests\//;

/** Files that run in one process. */
export interface Batch {
  files: string[];
  /** Whether each file has fresh globals and modules, and its open handles are closed at its end. */
  isolated: boolean;
}

/**
 * The files that run in one process each, in the order to start them. No file sees what another left behind: a hung
 * socket of one file has kept the next from ending. So a long file has a process for itself, and short ones of a folder
 * share one in which they are isolated, because the process keeps the code that it has loaded. Files that leave nothing share
 * one without isolation, which evaluates each module once: unit tests, which stand beside what they test, and those of some
 * services.
 */
export function inBatches(files: readonly string[]): Batch[] {
  const unit = Map.groupBy(files, unitTestsOf);
  const others = unit.get(undefined) ?? [];
  unit.delete(undefined);
  const short = Map.groupBy(others, (file) => SHORT.exec(file)?.[0].replace(/[^/]+$/, ""));
  const alone = short.get(undefined) ?? [];
  short.delete(undefined);
  const batches = [
    ...[...unit.values()].map((together) => ({ files: together, isolated: false })),
    ...alone.map((file) => ({ files: [file], isolated: false })),
    ...[...short.values()].flatMap(spread),
  ];
  const rank = ({ files: [file = ""] }: Batch) => {
    const at = LONGEST.findIndex((folder) => file.startsWith(folder));
    return at < 0 ? LONGEST.length : at;
  };
  return batches.toSorted((a, b) => rank(a) - rank(b));
}

/** Neighbours get into different batches, because they often take similarly long. */
function spread(files: readonly string[]): Batch[] {
  const count = Math.ceil(files.length / SHORT_AT_MOST);
  const batches = Map.groupBy(files, (file) => files.indexOf(file) % count);
  const isIsolated = ([file = "", ...others]: string[]) => others.length > 0 && !LEAVES_NOTHING.test(file);
  return [...batches.values()].map((together) => ({ files: together, isolated: isIsolated(together) }));
}

/** The part whose unit test a file is. */
function unitTestsOf(file: string): string | undefined {
  return /^.*?\/src\//.exec(file)?.[0];
}
