import { install, isMissing, isNeed, type NeedName } from "../testkit/src/programs/obtain.ts";
import { kubectl } from "../tests/kit/deploy/kubernetes.ts";
import { postgresClient } from "../tests/kit/deploy/postgres-client.ts";
import { importersOf } from "./affected.ts";
import { readImports } from "./imports.ts";

/** Matches a call of `obtain` as the formatter leaves it. */
const CALL = /\bobtain\("(\w+)"\)/g;
/** The programs that test files use if they import these modules. */
const UNPACKED = [
  { module: "tests/kit/deploy/postgres-client.ts", unpack: postgresClient },
  { module: "tests/kit/deploy/kubernetes.ts", unpack: kubectl },
];

export interface Fetching {
  /** Whether nothing is being fetched for a test file. */
  isReady(file: string): boolean;
  /** Settles once that is so; what could not be fetched is left to the test to say. */
  ready(file: string): Promise<void>;
}

/** Fetches the programs that are missing, while the tests run that need none of them: one that waits for the network keeps its place. */
export async function fetchPrograms(files: readonly string[]): Promise<Fetching> {
  const needs = await needsOf(files);
  const missing = [...new Set([...needs.values()].flat())].filter(isMissing);
  const lacking = files.filter((file) => needs.get(file)?.some((name) => missing.includes(name)));
  const fetches = [fetching(lacking, () => install(missing))];
  for (const { module, unpack } of UNPACKED) fetches.push(fetching(await importersOf([module], files), unpack));
  const fetchesFor = (file: string) => fetches.filter(({ done, users }) => !done && users.has(file));
  return {
    isReady: (file) => fetchesFor(file).length === 0,
    ready: async (file) => void (await Promise.all(fetchesFor(file).map(({ settled }) => settled))),
  };
}

function fetching(users: readonly string[], fetch: () => Promise<unknown>) {
  const own = { users: new Set(users), done: users.length === 0, settled: Promise.resolve() };
  const done = () => {
    own.done = true;
  };
  if (!own.done) own.settled = fetch().then(done, done);
  return own;
}

/** The programs that each test file obtains, itself or by what it imports. */
export async function needsOf(files: readonly string[]): Promise<Map<string, NeedName[]>> {
  const imports = await readImports("runs");
  const obtained = new Map<string, NeedName[]>();
  for (const file of new Set([...files, ...imports.keys()])) {
    const names = (await Bun.file(file).text()).matchAll(CALL).map(([, name = ""]) => name);
    obtained.set(file, [...names.filter(isNeed)]);
  }
  return new Map(
    files.map((file) => {
      const loaded = new Set([file]);
      for (const path of loaded) for (const imported of imports.get(path) ?? []) loaded.add(imported);
      return [file, [...new Set([...loaded].flatMap((path) => obtained.get(path) ?? []))].sort()];
    }),
  );
}
