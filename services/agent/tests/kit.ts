import { type Agent, AgentType, type LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  AgentServiceService,
  CreateAgentRequest,
  type PromptSource,
  UpdateAgentRequest,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, FEW_CONNECTIONS, TEST_SECRET, type TestDatabase } from "@parley/testkit/database";
import { sharedAgents } from "@parley/testkit/shared-agents";
import postgres from "postgres";
import { readAgentConfig } from "../src/config.ts";
import { startAgent } from "../src/service.ts";

export type AgentClient = ServiceClient<typeof AgentServiceService>;
export type PromptClient = ServiceClient<typeof PromptServiceService>;

const TIMEOUT_MS = 60_000;

export interface TestAgents {
  agents: AgentClient;
  /** The prompt service it works with, which all files share. */
  prompts: PromptClient;
  clock: FakeClock;
  /** The agent service's tables. */
  sql: postgres.Sql;
  /** What a further process of the agent service needs, its prompt service at another address if given. */
  env(promptAddress?: string): Record<string, string>;
  stop(): Promise<void>;
}

export async function startTestAgents(env: Record<string, string> = {}): Promise<TestAgents> {
  const database: TestDatabase = await createTestDatabase();
  const clock = fakeClock();
  const shared = sharedAgents();
  const envOf = (promptAddress = shared.promptAddress) => ({
    DATABASE_URL: database.urls.agent,
    ...FEW_CONNECTIONS,
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    PARLEY_PROMPT_ADDRESS: promptAddress,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    ...env,
  });
  const running = await startAgent(readAgentConfig(envOf()), silentLogger, clock);
  const agents = agentClient(running.address);
  const prompts = createClient(PromptServiceService, {
    peer: "prompt",
    address: shared.promptAddress,
    timeoutMs: TIMEOUT_MS,
  });
  const sql = postgres(database.urls.agent, { max: 1, onnotice: () => {} });
  return {
    agents,
    prompts,
    clock,
    sql,
    env: envOf,
    stop: async () => {
      agents.close();
      prompts.close();
      await sql.end();
      await running.stop();
      await database.drop();
    },
  };
}

export function agentClient(address: string): AgentClient {
  return createClient(AgentServiceService, { peer: "agent", address, timeoutMs: TIMEOUT_MS });
}

/** A request to create an agent; each test gives what it is about. */
export function creation(ownerId: string, given: Partial<CreateAgentRequest> = {}): CreateAgentRequest {
  const agentType = AgentType.AGENT_TYPE_INBOUND;
  return { ...CreateAgentRequest.fromPartial({ ownerId, agentName: "Front desk", agentType }), ...given };
}

export function update(
  agent: Pick<Agent, "ownerId" | "agentId">,
  given: Partial<UpdateAgentRequest>,
): UpdateAgentRequest {
  return { ...UpdateAgentRequest.fromPartial({ ownerId: agent.ownerId, agentId: agent.agentId }), ...given };
}

export function deletion({ ownerId, agentId }: Pick<Agent, "ownerId" | "agentId">) {
  return { ownerId, agentId, idempotency: undefined };
}

export async function create(client: AgentClient, request: CreateAgentRequest): Promise<Agent> {
  return present((await client.createAgent(request)).agent);
}

export async function change(client: AgentClient, agent: Agent, given: Partial<UpdateAgentRequest>): Promise<Agent> {
  return present((await client.updateAgent(update(agent, given))).agent);
}

export async function read(client: AgentClient, { ownerId, agentId }: Agent): Promise<Agent> {
  return present((await client.batchGetAgents({ keys: [{ ownerId, agentId }] })).results[0]?.agent);
}

/** The published versions of agents as conversations run them. */
export function runtimes(client: AgentClient, agents: readonly Pick<Agent, "ownerId" | "agentId">[]) {
  const keys = agents.map(({ ownerId, agentId }) => ({ ownerId, agentId, agentVersion: 0 }));
  return client.batchGetAgentRuntimes({ keys });
}

/** @throws when a message that a response must carry is not there */
export function present<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("the response is empty");
  return message;
}

export function inline(content: string): PromptSource {
  return { source: { $case: "content", value: content } };
}

export function byName(promptName: string, promptVersion?: number): PromptSource {
  return { source: { $case: "reference", value: { promptName, promptVersion } } };
}

export function customLlm(baseUrl: string, apiKey: string, fallbacks: LlmConfig[] = []): LlmConfig {
  return {
    providerName: "CUSTOM_LLM",
    modelName: "anything",
    params: { baseUrl, apiKey, apiType: undefined, temperature: undefined },
    fallbacks,
  };
}

/** A prompt of the owner's own. */
export async function createPrompt(
  prompts: PromptClient,
  ownerId: string,
  promptName: string,
  promptContent = "Be brief.",
  promptType: PromptType = PromptType.PROMPT_TYPE_MAIN,
): Promise<void> {
  await prompts.createPrompt({
    ownerId,
    promptName,
    promptContent,
    promptType,
    idempotency: undefined,
    newOnly: false,
  });
}

/** Makes the next version of a prompt, and has agents follow it as the prompt service does. */
export async function changePrompt(
  { agents, prompts }: Pick<TestAgents, "agents" | "prompts">,
  ownerId: string,
  promptName: string,
  promptContent: string,
): Promise<void> {
  await prompts.updatePrompt({ ownerId, promptName, promptContent, idempotency: undefined });
  await agents.followPrompt({ ownerId, promptName });
}

/** Lists an owner's agents: the first hundred, unless `given` says otherwise. */
export function list(
  client: AgentClient,
  ownerId: string,
  given: Partial<Parameters<AgentClient["listAgents"]>[0]> = {},
) {
  return client.listAgents({
    ownerId,
    page: { number: 1, size: 100 },
    search: "",
    agentType: AgentType.AGENT_TYPE_UNSPECIFIED,
    agentCategory: "",
    ...given,
  });
}
