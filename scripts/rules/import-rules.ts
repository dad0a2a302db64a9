import type { Imports } from "../imports.ts";

/** What each part may import beside itself. Only a benchmark imports a service; a part that is not named here may import nothing. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  proto: [],
  "services/shared": ["proto"],
  "services/account": ["proto", "services/shared"],
  "services/agent": ["proto", "services/shared"],
  "services/conversation": ["proto", "services/shared"],
  "services/messaging": ["proto", "services/shared"],
  "services/knowledge": ["proto", "services/shared"],
  "services/prompt": ["proto", "services/shared"],
  "services/voice": ["proto", "services/shared"],
  "services/webhook-dispatcher": ["proto", "services/shared"],
  gateway: ["proto", "services/shared"],
  dashboard: [],
  cli: ["proto", "services/shared"],
  testkit: ["services/shared"],
  dev: ["proto", "services/shared", "dashboard"],
  deploy: ["services/shared", "dashboard"],
  tests: ["proto", "services/shared", "dev", "deploy"],
  // The benchmark of rankings fills a base without reading a file for each passage.
  bench: ["proto", "services/shared", "services/knowledge", "gateway", "dev", "tests"],
  scripts: ["proto", "services/shared", "gateway", "dashboard", "dev", "deploy", "tests"],
};
/** What runs in browsers as well: it uses no dependency and nothing of a runtime, and imports nothing from outside its folder. */
const PORTABLE = /^services\/shared\/src\/portable\//;
/** What the `migrate` program takes of every service. */
const MIGRATIONS = /^services\/[a-z-]+\/src\/migrations\.ts$/;

/** What the stand-ins that the development stack runs share with tests. */
const STAND_INS = /^testkit\/src\/stand-ins\//;
/** What may import all of the test kit: tests and what runs them. */
const TESTS = /^(tests|bench|scripts)\/|\/tests\/|\.test\.tsx?$/;

/** A service's SQL, with the types of its rows. */
const STORE = /^services\/[a-z-]+\/src\/store\//;

/** The folder of one text channel, and the table of all. */
const CHANNEL = /^services\/messaging\/src\/channels\/[a-z-]+\//;
const CHANNELS = "services/messaging/src/channels/channels.ts";

/** Imports that a file may not have, of another part, of the test kit, from a store upwards, or into a channel, as lines to be read. */
export function forbiddenImports(imports: Imports): string[] {
  return imports
    .entries()
    .flatMap(([importer, imported]) =>
      imported.filter((file) => !mayImport(importer, file)).map((file) => `${importer} imports ${file}`),
    )
    .toArray();
}

function mayImport(importer: string, imported: string): boolean {
  const [from, to] = [partOf(importer), partOf(imported)];
  if (PORTABLE.test(importer) && !TESTS.test(importer)) return PORTABLE.test(imported);
  if (from === to) return !isUpwards(importer, imported) && !isIntoChannel(importer, imported);
  if (MAY_IMPORT[from]?.includes(to)) return true;
  if (to === "testkit") return TESTS.test(importer) || (from === "dev" && STAND_INS.test(imported));
  if (from === "dashboard") return PORTABLE.test(imported);
  return from === "deploy" && MIGRATIONS.test(imported);
}

/** A store names rows and what they hold; rules, calls and events know of it, and it knows of none of them. */
function isUpwards(importer: string, imported: string): boolean {
  const [store] = STORE.exec(importer) ?? [];
  return store !== undefined && !TESTS.test(importer) && !imported.startsWith(store);
}

/** A channel's folder is entered by its row only, so that nothing else depends on a certain channel. */
function isIntoChannel(importer: string, imported: string): boolean {
  const [channel] = CHANNEL.exec(imported) ?? [];
  return channel !== undefined && !importer.startsWith(channel) && importer !== CHANNELS && !TESTS.test(importer);
}

function partOf(path: string): string {
  return path.split("/", path.startsWith("services/") ? 2 : 1).join("/");
}

/** Circles of imports, each from a file through those it imports back to it. If two circles share a file, one may be left out. */
export function circles(imports: Imports): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string) => {
    const at = path.indexOf(file);
    if (at >= 0) return void found.push([...path.slice(at), file]);
    if (done.has(file)) return;
    path.push(file);
    for (const imported of imports.get(file) ?? []) visit(imported);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  return found;
}
