import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drift } from "./drift.ts";
import { circles, forbiddenImports } from "./import-rules.ts";
import { readImports } from "./imports.ts";
import type { Tally } from "./tally.ts";

/** Checks that run none of our code. Each prints its findings and returns whether there were none. */
const CHECKS: readonly { name: string; passes: (signal: AbortSignal) => Promise<boolean> }[] = [
  { name: "type check", passes: (signal) => succeeds(signal, "node_modules/.bin/tsc", "--noEmit", "-p", ".") },
  {
    name: "type check of the dashboard",
    passes: (signal) => succeeds(signal, "node_modules/.bin/tsc", "--noEmit", "-p", "dashboard"),
  },
  {
    name: "lint",
    passes: (signal) => succeeds(signal, "node_modules/.bin/biome", "check", "--error-on-warnings", "."),
  },
  { name: "proto lint", passes: (signal) => succeeds(signal, "node_modules/.bin/buf", "lint", "proto") },
  { name: "generated code", passes: generatedCodeIsFresh },
  { name: "imports go one way", passes: importsGoOneWay },
];

/** Runs every check from the root of the checkout, even after failures; starts none once `signal` fires. */
export async function runChecks(signal: AbortSignal): Promise<Tally> {
  let passed = 0;
  for (const { name, passes } of CHECKS) {
    if (signal.aborted) break;
    const ok = await passes(signal);
    if (ok) passed++;
    console.log(`${ok ? "(pass)" : "(fail)"} ${name}`);
  }
  return { passed, failed: CHECKS.length - passed };
}

async function succeeds(signal: AbortSignal, ...command: string[]): Promise<boolean> {
  return (await Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"], signal }).exited) === 0;
}

async function generatedCodeIsFresh(): Promise<boolean> {
  const scratch = await mkdtemp(join(tmpdir(), "parley-gen-"));
  try {
    const stale = await drift(scratch);
    if (stale.length > 0) console.log(`the generated code is stale, run \`bun run generate\`: ${stale.join(", ")}`);
    return stale.length === 0;
  } catch (error) {
    console.log(`could not generate the code: ${error instanceof Error ? error.message : error}`);
    return false;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function importsGoOneWay(): Promise<boolean> {
  const imports = await readImports("all");
  const findings = [
    ...circles(imports).map((circle) => `imports go in a circle: ${circle.join(" → ")}`),
    ...forbiddenImports(imports).map((found) => `${found}, which its part may not (scripts/import-rules.ts)`),
  ];
  for (const finding of findings) console.log(finding);
  return findings.length === 0;
}
