import { BINARIES_VARIABLE } from "../services/shared/src/testing/binaries.ts";
import { type SharedStack, startSharedStack } from "../tests/kit/stack/shared-stack.ts";
import { importersOf } from "./affected.ts";
import { compileBinaries } from "./binaries.ts";
import { fetchPrograms } from "./needs.ts";
import type { Surroundings } from "./run-tests.ts";
import { startTestbed } from "./testbed.ts";

const BINARIES = "services/shared/src/testing/binaries.ts";
const SHARED_STACK = "tests/kit/stack/shared-stack.ts";

export interface RunningSurroundings extends Surroundings {
  /** @throws what went wrong in them unseen by any test */
  stop(): Promise<void>;
}

/**
 * Starts what these test files need: a Postgres and a Redis, the binaries of the programs that some start, and a stack if
 * some share one. Fetches further programs in the meantime.
 */
export async function startSurroundings(files: readonly string[]): Promise<RunningSurroundings> {
  const startsPrograms = new Set(await importersOf([BINARIES], files));
  const sharesStack = new Set(await importersOf([SHARED_STACK], files));
  const testbed = await startTestbed();
  Object.assign(process.env, testbed.env);
  const programs = await fetchPrograms(files);
  const binaries = compiling(startsPrograms.size > 0);
  const stack = sharesStack.size > 0 ? startStackOf(binaries) : undefined;
  // The failure reaches the files that need the stack.
  stack?.catch(() => {});
  return {
    isReady: (file) => programs.isReady(file) && (binaries.done || !startsPrograms.has(file)),
    async envOf(file) {
      await programs.ready(file);
      return {
        ...testbed.env,
        ...(startsPrograms.has(file) && { [BINARIES_VARIABLE]: await binaries.folder }),
        ...(sharesStack.has(file) && (await stack)?.env),
      };
    },
    async stop() {
      try {
        await stopStack(stack);
      } finally {
        await Promise.all([testbed.stop(), binaries.remove()]);
      }
    },
  };
}

function compiling(wanted: boolean) {
  const compiled = wanted ? compileBinaries() : undefined;
  const own = {
    done: !wanted,
    folder: Promise.resolve(compiled).then((binaries) => binaries?.folder ?? ""),
    remove: async () => (await compiled?.catch(() => undefined))?.remove(),
  };
  const done = () => {
    own.done = true;
  };
  own.folder.then(done, done);
  return own;
}

async function startStackOf({ folder }: ReturnType<typeof compiling>): Promise<SharedStack> {
  process.env[BINARIES_VARIABLE] = await folder;
  return startSharedStack();
}

async function stopStack(stack: Promise<SharedStack> | undefined): Promise<void> {
  await (await stack)?.stop();
}
