import { openHome } from "@parley/dev/stack/home.ts";
import { LONG_LIVED } from "./short-lived.ts";
import { type RunningStack, type StackPlace, useStack } from "./use-stack.ts";

/** Settings that the tests on it need: a client address that requests can name, and quick retries. */
const SETTINGS = {
  PARLEY_TRUSTED_PROXIES: "127.0.0.0/8",
  PARLEY_WEBHOOK_RETRY_MS: "20",
  PARLEY_DATABASE_POOL: "10",
  ...LONG_LIVED,
};
const VARIABLE = "PARLEY_TEST_STACK";

/**
 * The stack that the test command starts once for all files that ask for it. Each has two owners and a client's address
 * of its own; none may end or exhaust a process.
 * @throws when the test was not started by the test command
 */
export async function sharedStack(): Promise<RunningStack> {
  const described = process.env[VARIABLE];
  if (!described) throw new Error(`no ${VARIABLE}: run tests with \`bun run test [path]\`, which starts a stack`);
  const { home, ...place } = JSON.parse(described);
  return useStack({ ...place, home: openHome(home) } satisfies StackPlace, anAddress());
}

export interface SharedStack {
  /** The environment variables with which a test finds the stack. */
  env: Record<string, string>;
  /** @throws if a secret was logged, or if a process of the stack ended too early */
  stop(): Promise<void>;
}

/** For the test command. Needs the variables of its Postgres in this process's environment. */
export async function startSharedStack(): Promise<SharedStack> {
  // Every file on the stack would load it.
  const { startTestStack } = await import("./test-stack.ts");
  const stack = await startTestStack({ env: SETTINGS });
  const { url, home, databaseUrls } = stack;
  const pids = stack.pids();
  const saidAtStart = stack.said().length;
  return {
    env: { [VARIABLE]: JSON.stringify({ url, home: home.path, databaseUrls }) },
    stop: async () => {
      const pidsNow = stack.pids();
      const hasEnded = Object.keys(pids).some((name) => pidsNow[name] !== pids[name]);
      const said = stack.said().slice(saidAtStart);
      await stack.stop();
      if (hasEnded) throw new Error(`Processes of the shared stack ended during the tests:\n${said.join("\n")}`);
    },
  };
}

/** An address that no other file has, because addresses are limited. */
function anAddress(): string {
  return `10.${[...crypto.getRandomValues(new Uint8Array(3))].join(".")}`;
}
