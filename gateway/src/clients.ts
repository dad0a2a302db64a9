import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { type AgentKey, AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { agentReader } from "@parley/shared/domain/agent-reader";
import type { Logger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import { peerCredentials, tlsFiles } from "@parley/shared/rpc/tls/credentials";
import type { GatewayConfig } from "./config.ts";
import { createTurns, type Turns } from "./turns/turns.ts";

export interface Clients {
  accounts: ServiceClient<typeof AccountServiceService>;
  agents: ServiceClient<typeof AgentServiceService>;
  prompts: ServiceClient<typeof PromptServiceService>;
  conversations: ServiceClient<typeof ConversationServiceService>;
  webhooks: ServiceClient<typeof WebhookDispatcherServiceService>;
  voices: ServiceClient<typeof VoiceServiceService>;
  messaging: ServiceClient<typeof MessagingServiceService>;
  knowledge: ServiceClient<typeof KnowledgeServiceService>;
  turns: Turns;
  /**
   * An agent; concurrent reads are one call.
   * @throws ServiceError forbidden for another owner's agent, not_found for none
   */
  readAgent(key: AgentKey): Promise<Agent>;
  /** The names of the unreachable services, among those that the public API needs. */
  unreachable(): Promise<string[]>;
  close(): void;
}

const REACHABLE_WITHIN_MS = 1_000;

/** Connects to each service on its first call. @throws ConfigError when the certificates are unusable */
export function createClients(config: GatewayConfig, log: Logger): Clients {
  // The gateway serves no gRPC, so there is no listening address to check the TLS files against.
  const credentials = peerCredentials(tlsFiles(config, "127.0.0.1:0"), log).channel;
  const connect = <D extends Definition>(definition: D, peer: string, address: string) =>
    createClient(definition, { peer, address, credentials });
  const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
  const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
  const prompts = connect(PromptServiceService, "prompt", config.PARLEY_PROMPT_ADDRESS);
  const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
  const turnStreams = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
  const webhooks = connect(WebhookDispatcherServiceService, "webhook", config.PARLEY_WEBHOOK_ADDRESS);
  const messaging = connect(MessagingServiceService, "messaging", config.PARLEY_MESSAGING_ADDRESS);
  const knowledge = connect(KnowledgeServiceService, "knowledge", config.PARLEY_KNOWLEDGE_ADDRESS);
  const voices = connect(VoiceServiceService, "voice", config.PARLEY_VOICE_ADDRESS);
  const readAgent = agentReader<AgentKey, Agent>(async (keys) => {
    const { results } = await agents.batchGetAgents({ keys });
    return results.map(({ agent, access }) => ({ found: agent, access }));
  });
  return {
    accounts,
    agents,
    prompts,
    conversations,
    webhooks,
    voices,
    messaging,
    knowledge,
    turns: createTurns(turnStreams),
    readAgent,
    unreachable: async () => {
      const named = Object.entries({ account: accounts, agent: agents, prompt: prompts, conversation: conversations });
      const reachable = await Promise.all(named.map(([, client]) => client.isReachable(REACHABLE_WITHIN_MS)));
      return named.filter((_, at) => !reachable[at]).map(([name]) => name);
    },
    close: () => {
      const calls = [accounts, agents, prompts, conversations, webhooks, voices, messaging, knowledge];
      for (const client of [...calls, turnStreams]) client.close();
    },
  };
}
