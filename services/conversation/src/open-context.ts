import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { ANSWER_WITHIN_MS } from "@parley/shared/db/provision";
import { revealing } from "@parley/shared/domain/secret-keys";
import { createEgress } from "@parley/shared/egress/egress";
import type { Logger } from "@parley/shared/log";
import type { Given } from "@parley/shared/process/service";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { agentsOf } from "./agents/agents.ts";
import { sessionAgents } from "./agents/session-agents.ts";
import { mailer } from "./alerts/mailer.ts";
import { ANALYSIS_ANSWER_MAX_BYTES } from "./analysis/bytes.ts";
import type { ConversationConfig } from "./config.ts";
import type { ConversationContext, ConversationLimits } from "./context.ts";
import { knowledgeOf } from "./knowledge/knowledge.ts";
import { listReader } from "./lists/list-reader.ts";
import { createLive, type LiveFeature } from "./live/live.ts";
import { boundedFetch } from "./model/bounded-fetch.ts";
import { type ProviderSettings, selectModel } from "./model/select.ts";
import { ownerRoom } from "./room.ts";
import { turnStore } from "./store/turns/turns-together.ts";
import { answerShares } from "./tools/answer-shares.ts";
import { clientTools } from "./tools/client-tools.ts";
import type { HttpTools } from "./tools/http/call.ts";
import { httpTools } from "./tools/http/http-tools.ts";
import { oauthTokens } from "./tools/http/oauth-tokens.ts";
import { toolLedger } from "./tools/ledger.ts";
import { mcpTools } from "./tools/mcp/mcp-tools.ts";
import { mcpSessions } from "./tools/mcp/sessions.ts";
import type { ToolSource } from "./tools/toolbox.ts";
import { runningTurns } from "./turn/running-turns.ts";
import { turnShares } from "./turn/turn-memory.ts";

const WHOLE_REPLY_MS = 600_000;
/** More than the longest document that tools are imported from, which is cut off where it is read. */
const TOOL_ANSWER_BYTES_MAX = 5 * 1024 * 1024;
/** A call's process answers at once, or there is none. */
const COMMAND_MS = 8_000;
/** Longer than the dispatcher's statement timeout. */
const FORGET_MS = 20_000;

/** What the service's features share, until it is closed. */
export interface OpenContext {
  ctx: ConversationContext;
  live: LiveFeature;
  close(): Promise<void>;
}

/** As `startConversation` is given it. */
interface Further {
  further: readonly ToolSource[];
  agentsMs: (() => number) | undefined;
}

export async function openContext(
  config: ConversationConfig,
  log: Logger,
  { db, direct, clock, connect }: Given,
  { further, agentsMs }: Further,
): Promise<OpenContext> {
  const dispatcher = connect(WebhookDispatcherServiceService, "webhook-dispatcher", config.PARLEY_WEBHOOK_ADDRESS);
  const voice = connect(VoiceServiceService, "voice", config.PARLEY_VOICE_ADDRESS);
  const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
  const revealSecrets = revealing(accounts);
  const agentService = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
  const agents = agentsOf(agentService, revealSecrets, log, agentsMs);
  const messaging = connect(MessagingServiceService, "messaging", config.PARLEY_MESSAGING_ADDRESS);
  const knowledge = knowledgeOf(connect(KnowledgeServiceService, "knowledge", config.PARLEY_KNOWLEDGE_ADDRESS));
  const egress = createEgress({
    allow: config.PARLEY_ALLOWED_PRIVATE_HOSTS,
    maxResponseBytes: config.PARLEY_LLM_ANSWER_MAX_BYTES,
  });
  const providers: ProviderSettings = {
    credentials: config.credentials,
    standardFetch: boundedFetch(config.PARLEY_LLM_ANSWER_MAX_BYTES),
    guarded: egress,
    retryMs: config.PARLEY_LLM_RETRY_MS,
  };
  const analysisAnswerMaxBytes = Math.min(ANALYSIS_ANSWER_MAX_BYTES, config.PARLEY_LLM_ANSWER_MAX_BYTES);
  const analysisEgress = createEgress({
    allow: config.PARLEY_ALLOWED_PRIVATE_HOSTS,
    maxResponseBytes: analysisAnswerMaxBytes,
  });
  const analysisProviders: ProviderSettings = {
    ...providers,
    standardFetch: boundedFetch(analysisAnswerMaxBytes),
    guarded: analysisEgress,
  };
  const toolEgress = createEgress({
    allow: config.PARLEY_ALLOWED_PRIVATE_HOSTS,
    maxResponseBytes: TOOL_ANSWER_BYTES_MAX,
  });
  const tools: HttpTools = {
    ask: toolEgress.ask,
    revealSecrets,
    tokens: oauthTokens(toolEgress.ask),
    answers: answerShares(),
    clock,
  };
  const unobserve = observeHeldBytes("tool answers", tools.answers.heldBytes);
  const sessions = mcpSessions({ ...tools, fetch: toolEgress.fetch });
  const replica = openReplica(config);
  const turns = runningTurns();
  const live = createLive({ db, direct, clock, log });
  const room = await ownerRoom(db, config.PARLEY_CONVERSATIONS_OWNER_BYTES, log);
  const { PARLEY_SMTP_URL: smtpUrl, PARLEY_SMTP_FROM: smtpFrom } = config;
  const mail = smtpUrl === "" ? null : mailer(smtpUrl, smtpFrom);
  const ctx: ConversationContext = {
    db,
    readLists: listReader(db, replica),
    agents,
    sessionAgents: sessionAgents(db),
    acceptEvents: dispatcher.batchAcceptEvents,
    countDeliveries: dispatcher.countDeliveries,
    findOwner: accounts.getOwner,
    sendMail: mail?.send ?? null,
    forgetConversations: (conversations) => dispatcher.forgetConversations(conversations, { timeoutMs: FORGET_MS }),
    forgetRecordings: (conversations) => voice.forgetRecordings(conversations, { timeoutMs: FORGET_MS }),
    selectModel: (ownerId, llm, by) => selectModel(ownerId, llm, providers, by),
    selectAnalysisModel: (ownerId, llm, by) => selectModel(ownerId, llm, analysisProviders, by),
    room,
    httpTools: tools,
    mcpSessions: sessions,
    toolSources: [httpTools(tools), mcpTools(sessions, agents.reportMcpTools), clientTools, ...further],
    knowledge,
    ledger: toolLedger(db, clock, turns, config.PARLEY_TURN_LEASE_MS),
    turns,
    turnShares: turnShares(config.PARLEY_OWNER_TURNS_MAX),
    turnStore: turnStore(db),
    sendText: messaging.sendText,
    commandCall: (command) => voice.commandCall(command, { timeoutMs: COMMAND_MS }),
    live,
    limits: limitsOf(config),
    clock,
  };
  return {
    ctx,
    live,
    close: async () => {
      mail?.close();
      egress.close();
      analysisEgress.close();
      sessions.close();
      unobserve();
      toolEgress.close();
      agents.close();
      await replica?.end({ timeout: 5 });
    },
  };
}

function openReplica(config: ConversationConfig): Database | null {
  if (config.PARLEY_DATABASE_REPLICA_URL === "") return null;
  return openDatabase({
    url: config.PARLEY_DATABASE_REPLICA_URL,
    max: config.PARLEY_DATABASE_POOL,
    prepare: config.PARLEY_DATABASE_PREPARE === "1",
    name: "parley-conversation-lists",
    answerWithinMs: ANSWER_WITHIN_MS,
  });
}

function limitsOf(config: ConversationConfig): ConversationLimits {
  return {
    ownerBytes: config.PARLEY_CONVERSATIONS_OWNER_BYTES,
    model: {
      deadlineMs: config.PARLEY_LLM_DEADLINE_MS,
      stallMs: config.PARLEY_LLM_STALL_MS,
      wholeMs: WHOLE_REPLY_MS,
      charactersMax: config.PARLEY_REPLY_MAX_CHARACTERS,
    },
    contextTokens: config.PARLEY_CHAT_CONTEXT_TOKENS,
    chatIdleMinutes: config.PARLEY_CHAT_IDLE_MINUTES,
    threadIdleMinutes: config.PARLEY_WHATSAPP_IDLE_HOURS * 60,
    analysesAtOnce: config.PARLEY_ANALYSES_AT_ONCE,
    analysesPerOwner: config.PARLEY_ANALYSES_PER_OWNER,
    callIdleMinutes: config.PARLEY_CALL_IDLE_MINUTES,
    checkpointMs: config.PARLEY_REPLY_CHECKPOINT_MS,
    turnLeaseMs: config.PARLEY_TURN_LEASE_MS,
    takeOverIdleMs: config.PARLEY_TAKE_OVER_IDLE_MINUTES * 60_000,
  };
}
