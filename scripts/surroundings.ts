import { type SharedStack, startSharedStack } from "../tests/kit/stack/shared-stack.ts";
import { importersOf } from "./affected.ts";
import { fetchPrograms } from "./needs.ts";
import type { Surroundings } from "./run-tests.ts";
import { startTestbed } from "./testbed.ts";

const SHARED_STACK = "tests/kit/stack/shared-stack.ts";

export interface RunningSurroundings extends Surroundings {
  /** @throws what went wrong in them unseen by any test */
  stop(): Promise<void>;
}

/**
 * Starts what these test files need: a Postgres and a Redis, and a stack if some share one. Fetches further programs
 * meanwhile.
 */
export async function startSurroundings(files: readonly string[]): Promise<RunningSurroundings> {
  const users = new Set(await importersOf([SHARED_STACK], files));
  const testbed = await startTestbed();
  Object.assign(process.env, testbed.env);
  const programs = await fetchPrograms(files);
  const stack = users.size > 0 ? startSharedStack() : undefined;
  // Whoever needs the stack is told.
  stack?.catch(() => {});
  return {
    isReady: programs.isReady,
    async envOf(file) {
      await programs.ready(file);
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

async function stopStack(stack: Promise<SharedStack> | undefined): Promise<void> {
  await (await stack)?.stop();
}
