import { AgentServiceService, type FollowPromptRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { type PromptReference, PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import {
  type CreatePromptRequest,
  PromptServiceService,
  type PromptUse,
} from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { serve } from "@parley/shared/rpc/server";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, FEW_CONNECTIONS, type TestDatabase } from "@parley/testkit/database";
import { readPromptConfig } from "../src/config.ts";
import { startPrompt } from "../src/service.ts";

export type PromptClient = ServiceClient<typeof PromptServiceService>;

export const {
  PROMPT_TYPE_UNSPECIFIED: UNSPECIFIED,
  PROMPT_TYPE_MAIN: MAIN,
  PROMPT_TYPE_ANALYSIS: ANALYSIS,
} = PromptType;

export interface TestService {
  client: PromptClient;
  clock: FakeClock;
  agents: FakeAgents;
  database: TestDatabase;
  /** One more process's worth of the service, on the same database. */
  startReplica(): Promise<PromptClient>;
  stop(): Promise<void>;
}

/** What the agent service is asked. */
export interface FakeAgents {
  /** The prompts that agents were told to follow. */
  followed: FollowPromptRequest[];
  /** While set, the service fails. */
  isAway: boolean;
}

export async function startTestService(env: Record<string, string> = {}): Promise<TestService> {
  const database = await createTestDatabase();
  const clock = fakeClock();
  const agents: FakeAgents = { followed: [], isAway: false };
  const agentServer = await serve(AgentServiceService, { followPrompt: followedBy(agents) }, LOOPBACK);
  const stops: (() => Promise<void>)[] = [];
  const startReplica = async () => {
    const config = readPromptConfig({
      DATABASE_URL: database.urls.prompt,
      ...FEW_CONNECTIONS,
      PARLEY_AGENT_ADDRESS: agentServer.address,
      ...env,
    });
    const running = await startPrompt(config, silentLogger, clock);
    const client = createClient(PromptServiceService, { peer: "prompt", address: running.address, timeoutMs: 30_000 });
    stops.push(async () => {
      client.close();
      await running.stop();
    });
    return client;
  };
  return {
    client: await startReplica(),
    clock,
    agents,
    database,
    startReplica,
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await agentServer.stop();
      await database.drop();
    },
  };
}

const LOOPBACK = { address: "127.0.0.1:0", log: silentLogger };

function followedBy(agents: FakeAgents) {
  return async (request: FollowPromptRequest) => {
    if (agents.isAway) throw new ServiceError("unavailable", "The agent service is away");
    agents.followed.push(request);
    return {};
  };
}

export function newAgent(ownerId: string, agentName = "Anna") {
  return { ownerId, agentId: newId("agt"), agentName };
}

/** A request to create a prompt; each test gives what it is about. */
export function creation(ownerId: string, given: Partial<CreatePromptRequest> = {}): CreatePromptRequest {
  return {
    ownerId,
    promptName: "greeting",
    promptContent: "Say hello.",
    promptType: UNSPECIFIED,
    idempotency: undefined,
    newOnly: false,
    ...given,
  };
}

export function update(ownerId: string, promptName: string, promptContent: string) {
  return { ownerId, promptName, promptContent, idempotency: undefined };
}

export function deletion(ownerId: string, promptName: string) {
  return { ownerId, promptName, idempotency: undefined };
}

/** A reference to the version that has a label. */
export function byLabel(promptName: string, promptLabel: string, promptVersion?: number): PromptUse {
  return { promptType: MAIN, source: { $case: "reference", value: { promptName, promptLabel, promptVersion } } };
}

export function byName(promptName: string, promptVersion?: number, promptType: PromptType = MAIN): PromptUse {
  return { promptType, source: { $case: "reference", value: { promptName, promptVersion } } };
}

/** References to the latest versions of prompts. */
export function byNames(promptNames: readonly string[]): PromptReference[] {
  return promptNames.map((promptName) => ({ promptName }));
}

export function withContent(content: string, promptType: PromptType = MAIN): PromptUse {
  return { promptType, source: { $case: "content", value: content } };
}
