import { builtDashboard } from "../dashboard/build.ts";
import { BINARIES_VARIABLE } from "../testkit/src/programs/binaries.ts";
import { type RunningAgents, startSharedAgents } from "../testkit/src/shared-agents.ts";
import { type SharedStack, startSharedStack } from "../tests/kit/stack/shared-stack.ts";
import { importersOf } from "./affected.ts";
import { compileBinaries } from "./binaries.ts";
import { fetchPrograms } from "./needs.ts";
import type { Surroundings } from "./running/run-tests.ts";
import { startTestbed } from "./testbed.ts";

const BINARIES = "testkit/src/programs/binaries.ts";
const SHARED_AGENTS = "testkit/src/shared-agents.ts";
const SHARED_STACK = "tests/kit/stack/shared-stack.ts";
/** What starts stacks, which serve the dashboard. */
const STACKS = ["dev/stack/stack.ts", "tests/stack/stack-run.ts"];

export interface RunningSurroundings extends Surroundings {
  /** @throws what went wrong in them unseen by any test */
  stop(): Promise<void>;
}

/**
 * Starts what these test files need: a Postgres and a Redis, the binaries of the programs that some start, the built
 * dashboard, and a stack, or an agent service with its prompt service, if some share one. Fetches further programs in the meantime.
 */
export async function startSurroundings(files: readonly string[]): Promise<RunningSurroundings> {
  const startsPrograms = new Set(await importersOf([BINARIES], files));
  const sharesStack = new Set(await importersOf([SHARED_STACK], files));
  const sharesAgents = new Set(await importersOf([SHARED_AGENTS], files));
  const startsStacks = (await importersOf(STACKS, files)).length > 0;
  const binaries = compiling(startsPrograms.size > 0, startsStacks ? dashboard() : undefined);
  const testbed = await startTestbed().catch(async (error) => {
    await binaries.remove();
    throw error;
  });
  Object.assign(process.env, testbed.env);
  const programs = await fetchPrograms(files);
  const stack = sharesStack.size > 0 ? startStackOf(binaries) : undefined;
  const agents = sharesAgents.size > 0 ? startAgentsOf(binaries) : undefined;
  // The failure reaches the files that need these.
  for (const started of [stack, agents]) started?.catch(() => {});
  return {
    isReady: (file) => programs.isReady(file) && (binaries.done || !startsPrograms.has(file)),
    async envOf(file) {
      await programs.ready(file);
      return {
        ...testbed.env,
        ...(startsPrograms.has(file) && { [BINARIES_VARIABLE]: await binaries.folder }),
        ...(sharesStack.has(file) && (await stack)?.env),
        ...(sharesAgents.has(file) && (await agents)?.env),
      };
    },
    async stop() {
      try {
        await Promise.all([stopStack(stack), agents?.then((running) => running.stop())]);
      } finally {
        await Promise.all([testbed.stop(), binaries.remove()]);
      }
    },
  };
}

/** Builds it before stacks start, each of which would build it at the same time. A failure reaches the stacks, which try again. */
async function dashboard(): Promise<void> {
  await builtDashboard().catch(() => {});
}

function compiling(wanted: boolean, alsoBuilding?: Promise<void>) {
  const compiled = wanted ? compileBinaries() : undefined;
  const own = {
    done: !wanted,
    folder: Promise.all([compiled, alsoBuilding]).then(([binaries]) => binaries?.folder ?? ""),
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

async function startAgentsOf({ folder }: ReturnType<typeof compiling>): Promise<RunningAgents> {
  process.env[BINARIES_VARIABLE] = await folder;
  return startSharedAgents();
}

async function stopStack(stack: Promise<SharedStack> | undefined): Promise<void> {
  await (await stack)?.stop();
}
