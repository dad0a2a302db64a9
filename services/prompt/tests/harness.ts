import { type PromptReference, PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import {
  type CreatePromptRequest,
  PromptServiceService,
  type PromptUse,
} from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { newId } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, type TestDatabase } from "@parley/testkit/database";
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
  database: TestDatabase;
  /** One more process's worth of the service, on the same database. */
  startReplica(): Promise<PromptClient>;
  stop(): Promise<void>;
}

export async function startTestService(env: Record<string, string> = {}): Promise<TestService> {
  const database = await createTestDatabase();
  const clock = fakeClock();
  const stops: (() => Promise<void>)[] = [];
  const startReplica = async () => {
    const config = readPromptConfig({ DATABASE_URL: database.urls.prompt, ...env });
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
    database,
    startReplica,
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await database.drop();
    },
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
