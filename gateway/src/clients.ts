import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { agentReader } from "@parley/shared/domain/agent-reader";
import type { Logger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { peerCredentials, tlsFiles } from "@parley/shared/rpc/credentials";
import type { Definition } from "@parley/shared/rpc/definition";
import type { GatewayConfig } from "./config.ts";

export interface Clients {
  accounts: ServiceClient<typeof AccountServiceService>;
  agents: ServiceClient<typeof AgentServiceService>;
  prompts: ServiceClient<typeof PromptServiceService>;
  conversations: ServiceClient<typeof ConversationServiceService>;
  webhooks: ServiceClient<typeof WebhookDispatcherServiceService>;
  /** Many reads at once are one call. @throws ServiceError forbidden for another owner's agent, not_found for none */
  getAgent(ownerId: string, agentId: string): Promise<Agent>;
  /** Names of the services that cannot be reached now, of those the public API needs. */
  unreachable(): Promise<string[]>;
  close(): void;
}

const REACHABLE_WITHIN_MS = 1_000;

/** Connects to a service when it is first called. @throws ConfigError when the certificates cannot be used */
export function createClients(config: GatewayConfig, log: Logger): Clients {
  // The gateway serves no gRPC, so there is no listening address to hold the TLS files against.
  const credentials = peerCredentials(tlsFiles(config, "127.0.0.1:0"), log).channel;
  const connect = <D extends Definition>(definition: D, peer: string, address: string) =>
    createClient(definition, { peer, address, credentials });
  const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
  const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
  const prompts = connect(PromptServiceService, "prompt", config.PARLEY_PROMPT_ADDRESS);
  const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
  const webhooks = connect(WebhookDispatcherServiceService, "webhook", config.PARLEY_WEBHOOK_ADDRESS);
  const getAgent = agentReader(async (keys) => {
    const { results } = await agents.batchGetAgents({ keys });
    return results.map(({ agent, access }) => ({ found: agent, access }));
  });
  return {
    accounts,
    agents,
    prompts,
    conversations,
    webhooks,
    getAgent,
    unreachable: async () => {
      const named = Object.entries({ account: accounts, agent: agents, prompt: prompts, conversation: conversations });
      const reachable = await Promise.all(named.map(([, client]) => client.isReachable(REACHABLE_WITHIN_MS)));
      return named.filter((_, at) => !reachable[at]).map(([name]) => name);
    },
    close: () => {
      for (const client of [accounts, agents, prompts, conversations, webhooks]) client.close();
    },
  };
}
