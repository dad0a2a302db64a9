import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, FEW_CONNECTIONS, TEST_SECRET } from "@parley/testkit/database";
import { sharedAgents } from "@parley/testkit/shared-agents";
import { readMessagingConfig } from "../src/config.ts";
import { startMessaging } from "../src/service.ts";

const TIMEOUT_MS = 60_000;
export const MESSAGES_PER_DAY = 3;
/** Those of one address. */
export const MESSAGES_PER_ADDRESS = 2;

export interface TestMessaging {
  messaging: ServiceClient<typeof MessagingServiceService>;
  agents: ServiceClient<typeof AgentServiceService>;
  clock: FakeClock;
  stop(): Promise<void>;
}

/** The service under test in this process, its clock standing still, with the shared agent service. */
export async function startTestMessaging(): Promise<TestMessaging> {
  const database = await createTestDatabase();
  const clock = fakeClock();
  const { agentAddress } = sharedAgents();
  const config = readMessagingConfig({
    DATABASE_URL: database.urls.messaging,
    ...FEW_CONNECTIONS,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: agentAddress,
    PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_TOKEN_KEY: TEST_SECRET,
    PARLEY_WIDGET_MESSAGES_PER_DAY: String(MESSAGES_PER_DAY),
    PARLEY_WIDGET_MESSAGES_PER_ADDRESS: String(MESSAGES_PER_ADDRESS),
  });
  const running = await startMessaging(config, silentLogger, { clock });
  const address = running.address ?? "";
  const messaging = createClient(MessagingServiceService, { peer: "messaging", address, timeoutMs: TIMEOUT_MS });
  const agents = createClient(AgentServiceService, { peer: "agent", address: agentAddress, timeoutMs: TIMEOUT_MS });
  return {
    messaging,
    agents,
    clock,
    stop: async () => {
      messaging.close();
      agents.close();
      await running.stop();
      await database.drop();
    },
  };
}
