import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vulnerablePackages } from "./audit.ts";
import { drift } from "./drift.ts";
import type { Failure } from "./failures.ts";
import { readImports } from "./imports.ts";
import { crowdedFolders } from "./rules/folder-rules.ts";
import { circles, forbiddenImports } from "./rules/import-rules.ts";
import type { Outcome } from "./tally.ts";

/** Where the type check keeps what it found, so that the next one checks only what has changed. */
const KEPT = "node_modules/.cache/types";
/** Searches the heap for garbage only beyond this size, which is more than a type check takes (https://pkg.go.dev/runtime). */
const SELDOM_COLLECTED = { GOGC: "off", GOMEMLIMIT: "3GiB" };

/** Checks that run none of our code. Each returns its findings, or null if there were none. */
const CHECKS: readonly { name: string; findings: (signal: AbortSignal) => Promise<string | null> }[] = [
  { name: "type check", findings: (signal) => checkTypes(signal, ".") },
  {
    name: "type check of the dashboard",
    findings: (signal) => checkTypes(signal, "dashboard"),
  },
  {
    name: "type check of the widget",
    findings: (signal) => checkTypes(signal, "gateway/src/widget"),
  },
  { name: "lint", findings: (signal) => run(signal, "node_modules/.bin/biome", "check", "--error-on-warnings", ".") },
  { name: "proto lint", findings: (signal) => run(signal, "node_modules/.bin/buf", "lint", "proto") },
  { name: "generated code", findings: staleCode },
  { name: "imports go one way", findings: badImports },
  { name: "folders can be taken in", findings: fullFolders },
  { name: "the registry tells of no vulnerable package", findings: (signal) => vulnerablePackages(signal) },
];

/** Runs every check from the root of the checkout, even after failures; starts none once `signal` fires. */
export async function runChecks(signal: AbortSignal): Promise<Outcome> {
  let passed = 0;
  const failures: Failure[] = [];
  for (const { name, findings } of CHECKS) {
    if (signal.aborted) break;
    const report = await findings(signal);
    if (report === null) passed++;
    else failures.push({ name, report: `${report.trim()}\n(fail) ${name}` });
    console.log(report === null ? `(pass) ${name}` : `${report.trim()}\n(fail) ${name}`);
  }
  return { passed, failed: CHECKS.length - passed, failures };
}

function checkTypes(signal: AbortSignal, project: string): Promise<string | null> {
  const kept = join(KEPT, `${project.replaceAll(/\W+/g, "-")}.tsbuildinfo`);
  // One checker, because several repeat each other's inference and take more memory.
  const options = ["--noEmit", "--checkers", "1", "--incremental", "--tsBuildInfoFile", kept];
  return run(signal, "node_modules/.bin/tsc", ...options, "-p", project);
}

async function run(signal: AbortSignal, ...command: string[]): Promise<string | null> {
  const child = Bun.spawn(command, {
    env: { ...SELDOM_COLLECTED, ...process.env },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  const [printed, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return (await child.exited) === 0 ? null : `${printed}${errors}`;
}

async function staleCode(): Promise<string | null> {
  const scratch = await mkdtemp(join(tmpdir(), "parley-gen-"));
  try {
    const stale = await drift(scratch);
    return stale.length === 0 ? null : `the generated code is stale, run \`bun run generate\`: ${stale.join(", ")}`;
  } catch (error) {
    return `could not generate the code: ${error instanceof Error ? error.message : error}`;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function badImports(): Promise<string | null> {
  const imports = await readImports("all");
  const findings = [
    ...circles(imports).map((circle) => `imports go in a circle: ${circle.join(" → ")}`),
    ...forbiddenImports(imports).map((found) => `${found}, which it may not (scripts/rules/import-rules.ts)`),
  ];
  return findings.length === 0 ? null : findings.join("\n");
}

async function fullFolders(): Promise<string | null> {
  const findings = crowdedFolders((await readImports("all")).keys());
  return findings.length === 0 ? null : findings.join("\n");
}
