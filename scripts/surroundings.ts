import { install, isMissing } from "../services/shared/src/testing/programs.ts";
import { type SharedStack, startSharedStack } from "../tests/kit/stack/shared-stack.ts";
import { importersOf } from "./affected.ts";
import { needsOf } from "./needs.ts";
import type { Surroundings } from "./run-tests.ts";
import { startTestbed } from "./testbed.ts";

const SHARED_STACK = "tests/kit/stack/shared-stack.ts";

export interface RunningSurroundings extends Surroundings {
  /** @throws what went wrong in them unseen by any test */
  stop(): Promise<void>;
}

/**
 * Starts what these test files need: a Postgres and a Redis, and a stack if some share one. Installs their programs
 * meanwhile.
 */
export async function startSurroundings(files: readonly string[]): Promise<RunningSurroundings> {
  const users = new Set(await importersOf([SHARED_STACK], files));
  const testbed = await startTestbed();
  Object.assign(process.env, testbed.env);
  const programs = await startInstalling(files);
  const stack = users.size > 0 ? startSharedStack() : undefined;
  // Whoever needs the stack is told.
  stack?.catch(() => {});
  return {
    isReady: programs.isReady,
    async envOf(file) {
      await programs.installedFor(file);
      return { ...testbed.env, ...(users.has(file) && (await stack)?.env) };
    },
    async stop() {
      try {
        await stopStack(stack);
      } finally {
        await testbed.stop();
      }
    },
  };
}

/** Installs what is missing in one go, because each installation on its own takes seconds of the test that waits for it. */
async function startInstalling(files: readonly string[]) {
  const needs = await needsOf(files);
  const waiting = new Set<string>();
  for (const [file, names] of needs) if (names.some(isMissing)) waiting.add(file);
  const installing = install([...new Set([...needs.values()].flat())]).then((why) => {
    waiting.clear();
    // The tests that need them say so too.
    if (why) console.log(`Not installed: ${why}`);
  });
  return {
    isReady: (file: string) => !waiting.has(file),
    installedFor: async (file: string) => waiting.has(file) && (await installing),
  };
}

async function stopStack(stack: Promise<SharedStack> | undefined): Promise<void> {
  await (await stack)?.stop();
}
