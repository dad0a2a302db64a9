import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, TEST_SECRET, type TestDatabase } from "@parley/testkit/database";
import { testProgramWords } from "@parley/testkit/programs/binaries";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import { type Outcome, runHere } from "./run-here.ts";

export const MAIN = join(import.meta.dir, "../src/main.ts");

export interface Stack {
  /** The folder with the stack.json. */
  home: string;
  address: string;
  /** Runs the command line against the stack: as a process if it has an environment or an input of its own. */
  parley(args: readonly string[], env?: Record<string, string>, stdin?: string): Promise<Outcome>;
  stop(): Promise<void>;
}

/** The services that the command line calls, as processes on a database of their own, with a stack.json as of a running stack. @param agentAddress of an agent service that the account service calls */
export async function startStack({
  needsVoice = false,
  needsConversations = false,
  agentAddress = "127.0.0.1:1",
} = {}): Promise<Stack> {
  const database = await createTestDatabase();
  const home = await mkdtemp(join(tmpdir(), "parley-cli-"));
  const service = await startServiceProcess("account", {
    DATABASE_URL: database.urls.account,
    PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: agentAddress,
    PARLEY_PROMPT_ADDRESS: "127.0.0.1:1",
    PARLEY_WEBHOOK_ADDRESS: "127.0.0.1:1",
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
  });
  const dispatcher = await startServiceProcess("webhook-dispatcher", {
    DATABASE_URL: database.urls.webhook,
    PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    PARLEY_WEBHOOK_RETRY_MS: "1",
  });
  const voice = needsVoice ? await startVoice(database, service.address) : null;
  const conversations = needsConversations ? await startConversations(database, service.address) : null;
  const { address, pid } = service;
  await writeStackJson(home, [
    { name: "account", pid, address },
    { name: "webhook-dispatcher", pid: dispatcher.pid, address: dispatcher.address },
    ...(voice ? [{ name: "voice", pid: voice.pid, address: voice.address }] : []),
    ...(conversations ? [{ name: "conversation", pid: conversations.pid, address: conversations.address }] : []),
  ]);
  return {
    home,
    address,
    parley: (args, env, stdin) =>
      env || stdin ? runCli(args, { PARLEY_HOME: home, ...env }, home, stdin) : runHere(args, { PARLEY_HOME: home }),
    stop: async () => {
      await Promise.all([service.stop(), dispatcher.stop(), voice?.stop(), conversations?.stop()]);
      await database.drop();
      await rm(home, { recursive: true });
    },
  };
}

function startVoice({ urls }: TestDatabase, accountAddress: string) {
  const nowhere = "127.0.0.1:1";
  return startServiceProcess("voice", {
    DATABASE_URL: urls.voice,
    PARLEY_ACCOUNT_ADDRESS: accountAddress,
    PARLEY_AGENT_ADDRESS: nowhere,
    PARLEY_CONVERSATION_ADDRESS: nowhere,
    PARLEY_TOKEN_KEY: TEST_SECRET,
  });
}

function startConversations({ urls }: TestDatabase, accountAddress: string) {
  const nowhere = "127.0.0.1:1";
  return startServiceProcess("conversation", {
    DATABASE_URL: urls.conversation,
    PARLEY_ACCOUNT_ADDRESS: accountAddress,
    PARLEY_AGENT_ADDRESS: nowhere,
    PARLEY_KNOWLEDGE_ADDRESS: nowhere,
    PARLEY_PROMPT_ADDRESS: nowhere,
    PARLEY_WEBHOOK_ADDRESS: nowhere,
    PARLEY_VOICE_ADDRESS: nowhere,
    PARLEY_MESSAGING_ADDRESS: nowhere,
  });
}

export async function writeStackJson(home: string, processes: readonly object[]): Promise<void> {
  await Bun.write(join(home, "stack.json"), JSON.stringify({ processes }));
}

/** The command line as `testProgramWords` has it. */
export const PARLEY = testProgramWords("parley", MAIN);

/** Runs a line of shell in which `parley` is the command line, by default from its source. */
export async function runShell(
  line: string,
  env: Record<string, string>,
  words: readonly string[] = [process.execPath, MAIN],
): Promise<Outcome> {
  const parley = `parley() { ${words.map((word) => `'${word}'`).join(" ")} "$@"; }`;
  const shell = Bun.spawn(["bash", "-c", `${parley}\n${line}`], {
    env: { ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, status] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  return { status, stdout, stderr };
}

export async function runCli(
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
  stdin = "",
): Promise<Outcome> {
  const cli = Bun.spawn([...PARLEY, ...args], {
    cwd,
    // As `bun run parley` runs it.
    env: { npm_lifecycle_event: "parley", ...env, NO_COLOR: "1" },
    stdin: Buffer.from(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([cli.stdout.text(), cli.stderr.text(), cli.exited]);
  return { status, stdout, stderr };
}
