import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Given } from "@parley/shared/process/service";
import { createClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import type { VoiceConfig } from "./config.ts";

/** The services that this one calls. */
export function connectPeers(config: VoiceConfig, credentials: Given["credentials"]) {
  const connect = <D extends Definition>(definition: D, peer: string, address: string) =>
    createClient(definition, { peer, address, credentials });
  const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
  const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
  const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
  return {
    accounts,
    agents,
    conversations,
    close: () => {
      for (const client of [accounts, agents, conversations]) client.close();
    },
  };
}
