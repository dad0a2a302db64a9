import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { systemClock } from "@parley/shared/clock";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress } from "@parley/shared/egress/egress";
import { startWorker } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process";
import { createClient } from "@parley/shared/rpc/client";
import { channelCredentials, tlsFiles } from "@parley/shared/rpc/credentials";
import { startService } from "@parley/shared/service";
import { agentReader } from "./agents.ts";
import type { ConversationConfig } from "./config.ts";
import type { ConversationContext, ConversationLimits } from "./context.ts";
import { silentChatQueue, sweepSilentChats } from "./idle.ts";
import { MIGRATIONS } from "./migrations.ts";
import { type ProviderSettings, selectModel } from "./model/select.ts";
import { completeTurn } from "./rpc/complete-turn.ts";
import { getChatSession } from "./rpc/get-chat-session.ts";
import { getConversation } from "./rpc/get-conversation.ts";
import { listChatSessions } from "./rpc/list-chat-sessions.ts";
import { listConversations } from "./rpc/list-conversations.ts";
import { startChat } from "./rpc/start-chat.ts";
import { streamTurn } from "./rpc/stream-turn.ts";

const WHOLE_REPLY_MS = 600_000;
const TURN_LEASE_MS = 15_000;

export function startConversation(config: ConversationConfig, log: Logger): Promise<Running> {
  return startService(
    {
      name: "conversation",
      definition: ConversationServiceService,
      migrations: MIGRATIONS,
      build: async (db) => {
        const agents = createClient(AgentServiceService, {
          peer: "agent",
          address: config.PARLEY_AGENT_ADDRESS,
          credentials: channelCredentials(tlsFiles(config, config.PARLEY_LISTEN)),
        });
        const egress = createEgress({ allow: parseAllowList(config.PARLEY_ALLOWED_PRIVATE_HOSTS) });
        const providers: ProviderSettings = {
          openai: { apiKey: config.OPENAI_API_KEY, baseUrl: config.OPENAI_BASE_URL },
          guardedFetch: egress.fetch,
        };
        const ctx: ConversationContext = {
          db,
          getAgent: agentReader(agents),
          selectModel: (llm) => selectModel(llm, providers),
          limits: limitsOf(config),
          clock: systemClock,
        };
        const worker = startWorker(db, silentChatQueue(ctx), log);
        await sweepSilentChats(ctx);
        return {
          handlers: {
            startChat: startChat(ctx),
            completeTurn: completeTurn(ctx),
            streamTurn: streamTurn(ctx),
            getChatSession: getChatSession(ctx),
            listChatSessions: listChatSessions(ctx),
            getConversation: getConversation(ctx),
            listConversations: listConversations(ctx),
          },
          stop: async () => {
            await worker.stop();
            egress.close();
            agents.close();
          },
        };
      },
    },
    config,
    log,
  );
}

function limitsOf(config: ConversationConfig): ConversationLimits {
  return {
    model: { deadlineMs: config.PARLEY_LLM_DEADLINE_MS, stallMs: config.PARLEY_LLM_STALL_MS, wholeMs: WHOLE_REPLY_MS },
    contextTokens: config.PARLEY_CHAT_CONTEXT_TOKENS,
    chatIdleMinutes: config.PARLEY_CHAT_IDLE_MINUTES,
    turnLeaseMs: TURN_LEASE_MS,
  };
}
