import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import type { Run } from "../run.ts";

export type ConversationClient = ServiceClient<typeof ConversationServiceService>;

/** Longer than any list should take, so that a slow one is visible. */
const TIMEOUT_MS = 600_000;
/** Allows for the migrations of a kept database. */
const MIGRATED_WITHIN_MS = 600_000;

export interface RunningService {
  client: ConversationClient;
  stop(): Promise<void>;
}

/** Starts the conversation service as a process of its own; lists call no other service. */
export async function startListService(run: Run, databaseUrl: string): Promise<RunningService> {
  const env = {
    DATABASE_URL: databaseUrl,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
    PARLEY_PROMPT_ADDRESS: "127.0.0.1:1",
    PARLEY_WEBHOOK_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
  };
  const service = await startServiceProcess("conversation", env, MIGRATED_WITHIN_MS);
  const client = createClient(ConversationServiceService, {
    peer: "conversation",
    address: service.address,
    timeoutMs: TIMEOUT_MS,
  });
  let stopped: Promise<unknown> | null = null;
  const stop = async () => {
    client.close();
    stopped ??= service.stop();
    await stopped;
  };
  run.onEnd(stop);
  return { client, stop };
}
