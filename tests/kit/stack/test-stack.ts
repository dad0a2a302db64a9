import { chmod, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { runFolder } from "@parley/dev/processes/run-folder.ts";
import { openHome } from "@parley/dev/stack/home.ts";
import { readStackSettings } from "@parley/dev/stack/settings.ts";
import { type LeftOut, startStack } from "@parley/dev/stack/stack.ts";
import { roleUrls } from "@parley/shared/db/provision";
import { FEW_CONNECTIONS, TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { BINARIES_VARIABLE } from "@parley/testkit/programs/binaries";
import { secretsInLogs } from "../logged-secrets.ts";
import { SHORT_LIVED } from "./short-lived.ts";
import { createDatabase, createMigratedDatabase, type GivenDatabase, ownDatabase } from "./stack-database.ts";
import { findProcess, type ProcessName, type ReplicaName, type RunningStack, useStack } from "./use-stack.ts";

export interface TestStackSettings {
  /** Environment variables for its processes, in addition to the stack's own. */
  env?: Record<string, string>;
  /**
   * "cluster": a database with all tables in the tests' own Postgres; "empty": one without, as an operator gives it; "embedded": a
   * Postgres of the stack's own, to be killed.
   */
  postgres?: keyof typeof DATABASES;
  /** A Redis to use; by default the stack starts one. */
  redisUrl?: string;
  /** The number of replicas of every service and the gateway. */
  replicas?: number;
  /** The processes that no test on it needs; each takes a tenth of the CPU of a boot, and more in a stack that recovers. */
  without?: readonly LeftOut[];
  /** Starts a proxy between the processes and the cluster's database. @returns the address to use instead */
  through?: (databaseUrl: string) => Promise<string>;
}

/** A stack of a test file's own, whose processes it may end. */
export interface TestStack extends RunningStack {
  /** Ends a process, which the stack then restarts. `back` resolves when the new one answers, with how the old one ended. */
  kill(name: ProcessName | ReplicaName, signal?: NodeJS.Signals): { back: Promise<string> };
  /** The stack's output so far: the processes that ended, how, and their last log lines. */
  said(): readonly string[];
}

const BACK_WITHIN_MS = 60_000;
/** The outside world, for tests that bring their own model. */
export const STAND_INS = ["model", "speech", "carrier", "whatsapp", "daily"] as const;
/** What a stack that only chats does without. */
export const BESIDES_CHATS = [...STAND_INS, "voice", "messaging", "knowledge"] as const;

/**
 * Boots a stack in a home of its own, which takes seconds: for tests that end processes or set what others may not. Every
 * other test uses `sharedStack`.
 */
export async function startTestStack({
  env = {},
  postgres = "cluster",
  redisUrl,
  replicas = 1,
  without = [],
  through = async (url) => url,
}: TestStackSettings = {}): Promise<TestStack> {
  const folder = await runFolder(tmpdir(), "parley-e2e-");
  // Postgres's user must be able to enter it.
  await chmod(folder, 0o755);
  const home = openHome(join(folder, "home"));
  const given = await DATABASES[postgres]();
  const [port = 0] = await freePorts(1);
  const own = {
    PORT: String(port),
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    PARLEY_REPLICAS: String(replicas),
    PARLEY_BINARIES: process.env[BINARIES_VARIABLE],
    ...(given && { DATABASE_URL: await through(given.url) }),
    ...(redisUrl && { REDIS_URL: redisUrl }),
  };
  const said: string[] = [];
  const stack = await startStack(
    home,
    readStackSettings(own),
    { ...EVERYTHING_LOGGED, ...LOCAL_MODELS, ...SHORT_LIVED, ...FEW_CONNECTIONS, ...env },
    (line) => said.push(line),
    without,
  );
  const remove = async () => {
    await stack.stop();
    await given?.drop();
    const leaks = await secretsInLogs(home);
    await rm(folder, { recursive: true });
    if (leaks.length > 0) throw new Error(`Secrets were logged:\n${leaks.join("\n")}`);
  };
  try {
    const { url } = await stack.up;
    const databaseUrls = roleUrls(given?.url ?? ownDatabase(home), TEST_SECRET);
    const running = await useStack({ url, home, databaseUrls });
    return {
      ...running,
      kill: (name, signal = "SIGKILL") => {
        const before = said.length;
        process.kill(findProcess(home, name).pid, signal);
        const isBack = () => {
          const since = said.slice(before);
          const how = since.find((line) => line.startsWith(`${name} ended `))?.match(/\((.*?)\)/)?.[1];
          if (how === undefined || !since.includes(`${name} is back`)) throw new Error(`${name} is not back: ${since}`);
          return how;
        };
        return { back: eventually(isBack, BACK_WITHIN_MS) };
      },
      said: () => said,
      stop: async () => {
        await running.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

const DATABASES = {
  cluster: createMigratedDatabase,
  empty: createDatabase,
  embedded: async () => null,
} satisfies Record<string, () => Promise<GivenDatabase | null>>;

/** Includes debug lines in the search for secrets at the stack's end. */
const EVERYTHING_LOGGED = { PARLEY_LOG_LEVEL: "debug" };

/** Tests' models listen on loopback, which agents may not call unless the operator allows it. */
const LOCAL_MODELS = { PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
