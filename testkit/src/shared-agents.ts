import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, TEST_SECRET } from "./database.ts";
import { startServiceProcess } from "./programs/service-process.ts";

const VARIABLE = "PARLEY_TEST_AGENTS";

/** A prompt and an agent service, whose agents may name models on loopback. */
export interface SharedAgents {
  promptAddress: string;
  agentAddress: string;
  /** The URL of the superuser of their database. */
  adminUrl: string;
}

/**
 * The prompt and the agent service that the test command starts once for all files that ask for them. Each file has owners
 * of its own there; none may end or exhaust a process.
 * @throws when the test was not started by the test command
 */
export function sharedAgents(): SharedAgents {
  const described = process.env[VARIABLE];
  if (!described) throw new Error(`no ${VARIABLE}: run tests with \`bun run test [path]\`, which starts the services`);
  return JSON.parse(described);
}

export interface RunningAgents {
  /** The environment variables with which a test finds the services. */
  env: Record<string, string>;
  /** @throws if one of the processes ended too early */
  stop(): Promise<void>;
}

/** For the test command. Needs the variables of its Postgres in this process's environment. */
export async function startSharedAgents(): Promise<RunningAgents> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "parley-agents-"));
  // Each calls the other, so one's address is known before it starts.
  const agentAddress = `unix:${join(folder, "agent.sock")}`;
  const prompt = await startServiceProcess("prompt", {
    DATABASE_URL: database.urls.prompt,
    PARLEY_AGENT_ADDRESS: agentAddress,
  });
  const agent = await startServiceProcess("agent", {
    DATABASE_URL: database.urls.agent,
    PARLEY_LISTEN: agentAddress,
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    PARLEY_PROMPT_ADDRESS: prompt.address,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
  });
  const described: SharedAgents = {
    promptAddress: prompt.address,
    agentAddress,
    adminUrl: database.adminUrl,
  };
  return {
    env: { [VARIABLE]: JSON.stringify(described) },
    stop: async () => {
      for (const [name, service] of Object.entries({ agent, prompt }))
        if ((await service.stop()) !== 0) throw new Error(`The shared ${name} service ended early:\n${service.output}`);
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}
