import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { Clock } from "@parley/shared/clock";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { ANSWER_WITHIN_MS } from "@parley/shared/db/provision";
import { revealing } from "@parley/shared/domain/secret-keys";
import { createEgress } from "@parley/shared/egress/egress";
import { foldQueue } from "@parley/shared/folds/fold";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { registered } from "@parley/shared/rpc/registration";
import { STORED_BYTES_FOLD } from "@parley/shared/stored-bytes/fold";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { agentsOf } from "./agents/agents.ts";
import { sessionAgents } from "./agents/session-agents.ts";
import { alertQueue } from "./alerts/check-alerts.ts";
import { mailQueue } from "./alerts/mail.ts";
import { mailer } from "./alerts/mailer.ts";
import { ANALYSIS_ANSWER_MAX_BYTES } from "./analysis/bytes.ts";
import { analysisQueue } from "./analysis/queue.ts";
import type { ConversationConfig } from "./config.ts";
import type { ConversationContext, ConversationLimits } from "./context.ts";
import { eventRelayQueue } from "./events/relay.ts";
import { knowledgeOf } from "./knowledge/knowledge.ts";
import { listReader } from "./lists/list-reader.ts";
import { idleTakeOvers, operatorMessages } from "./live/control.ts";
import { createLive } from "./live/live.ts";
import { MIGRATIONS } from "./migrations.ts";
import { boundedFetch } from "./model/bounded-fetch.ts";
import { type ProviderSettings, selectModel } from "./model/select.ts";
import { forgetQueues } from "./retention/forget.ts";
import { silentCalls, silentChats, silentThreads } from "./retention/idle.ts";
import { expiredConversations } from "./retention/retention.ts";
import { ownerRoom } from "./room.ts";
import { analyzeConversation } from "./rpc/analyze-conversation.ts";
import { appendTranscript } from "./rpc/append-transcript.ts";
import { askForJson } from "./rpc/ask-for-json.ts";
import { askModel } from "./rpc/ask-model.ts";
import { checkConversation } from "./rpc/check-conversation.ts";
import { checkRoom } from "./rpc/check-room.ts";
import { compareVersions } from "./rpc/compare-versions.ts";
import { completeConversation } from "./rpc/complete-conversation.ts";
import { completeTurn } from "./rpc/complete-turn.ts";
import { controlConversation } from "./rpc/control-conversation.ts";
import { converse } from "./rpc/converse.ts";
import { countUsage } from "./rpc/count-usage.ts";
import { createAlert } from "./rpc/create-alert.ts";
import { deleteAlert } from "./rpc/delete-alert.ts";
import { fetchDocument } from "./rpc/fetch-document.ts";
import { forgetOwner } from "./rpc/forget-owner.ts";
import { getCallSetup } from "./rpc/get-call-setup.ts";
import { getChatSession } from "./rpc/get-chat-session.ts";
import { getConversation } from "./rpc/get-conversation.ts";
import { getModelSetup } from "./rpc/get-model-setup.ts";
import { getStatistics } from "./rpc/get-statistics.ts";
import { getVersionFigures } from "./rpc/get-version-figures.ts";
import { giveClientResult } from "./rpc/give-client-result.ts";
import { listAlerts } from "./rpc/list-alerts.ts";
import { listChatSessions } from "./rpc/list-chat-sessions.ts";
import { listConversations } from "./rpc/list-conversations.ts";
import { listDocumentReplies } from "./rpc/list-document-replies.ts";
import { listMcpTools } from "./rpc/list-mcp-tools.ts";
import { recordEvent } from "./rpc/record-event.ts";
import { reportCall } from "./rpc/report-call.ts";
import { runCallTool } from "./rpc/run-call-tool.ts";
import { runTurns } from "./rpc/run-turns.ts";
import { setDelivery } from "./rpc/set-delivery.ts";
import { setOwnerSettings } from "./rpc/set-owner-settings.ts";
import { setWantedEvents } from "./rpc/set-wanted-events.ts";
import { startChat } from "./rpc/start-chat.ts";
import { startConversation as startCall } from "./rpc/start-conversation.ts";
import { tryStartWebhook } from "./rpc/try-start-webhook.ts";
import { tryTool } from "./rpc/try-tool.ts";
import { updateAlert } from "./rpc/update-alert.ts";
import { waitForToolCalls } from "./rpc/wait-for-tool-calls.ts";
import { watchConversations } from "./rpc/watch-conversations.ts";
import { indexConversationsQueue } from "./search/index-job.ts";
import { goneConversations } from "./search/tidy.ts";
import { oldRecentFigures } from "./statistics/recent.ts";
import { COUNTS } from "./store/conversation-counts.ts";
import { figuresFold } from "./store/figures/fold-figures.ts";
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

/**
 * @param further tools that agents have besides those of the configuration
 * @param agentsMs the time by which the agent service's last answers stand, in milliseconds of a clock that only goes forward
 */
export function startConversation(
  config: ConversationConfig,
  log: Logger,
  given?: Clock,
  further: readonly ToolSource[] = [],
  agentsMs?: () => number,
): Promise<Running> {
  return startService(
    {
      name: "conversation",
      definition: ConversationServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: async ({ db, patient, direct, clock, connect }) => {
        const dispatcher = connect(
          WebhookDispatcherServiceService,
          "webhook-dispatcher",
          config.PARLEY_WEBHOOK_ADDRESS,
        );
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
          forgetConversations: (conversations) =>
            dispatcher.forgetConversations(conversations, { timeoutMs: FORGET_MS }),
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
        const silences = [silentChats(ctx), silentCalls(ctx), silentThreads(ctx)];
        const relay = eventRelayQueue(ctx, log);
        return [
          room,
          turns,
          {
            ...live,
            handlers: {
              watchConversations: watchConversations(ctx),
              controlConversation: controlConversation(ctx),
              reportCall: reportCall(ctx),
            },
            queues: operatorMessages(ctx),
            sweeps: [...live.sweeps, idleTakeOvers(ctx)],
          },
          {
            handlers: {
              startChat: startChat(ctx),
              completeTurn: completeTurn(ctx),
              runTurns: runTurns(ctx),
              getChatSession: registered(getChatSession(ctx), { isList: true }),
              listChatSessions: registered(listChatSessions(ctx), { isList: true }),
              getConversation: registered(getConversation(ctx), { isList: true }),
              checkConversation: checkConversation(ctx),
              checkRoom: checkRoom(ctx),
              listConversations: registered(listConversations(ctx), { isList: true }),
              analyzeConversation: analyzeConversation(ctx),
              // Called by voice runtimes too, with what models and callers gave them.
              getCallSetup: registered(getCallSetup(ctx), { structFields: { 3: "dynamic_variables" } }),
              startConversation: registered(startCall(ctx), {
                structFields: { 9: "dynamic_variables", 10: "metadata" },
              }),
              appendTranscript: appendTranscript(ctx),
              converse: converse(ctx),
              waitForToolCalls: waitForToolCalls(ctx),
              askModel: askModel(ctx),
              askForJson: askForJson(ctx),
              giveClientResult: giveClientResult(ctx),
              runCallTool: registered(runCallTool(ctx), { structFields: { 4: "arguments" } }),
              completeConversation: completeConversation(ctx),
              setDelivery: setDelivery(ctx),
              countUsage: countUsage(ctx),
              getModelSetup: getModelSetup(config),
              // A year of many agents takes as long as a list.
              listDocumentReplies: registered(listDocumentReplies(ctx), { isList: true }),
              getStatistics: registered(getStatistics(ctx), { isList: true }),
              getVersionFigures: registered(getVersionFigures(ctx), { isList: true }),
              compareVersions: registered(compareVersions(ctx), { isList: true }),
              setOwnerSettings: setOwnerSettings(ctx),
              tryStartWebhook: registered(tryStartWebhook(ctx), {
                structFields: { 5: "metadata", 6: "dynamic_variables" },
              }),
              setWantedEvents: setWantedEvents(ctx),
              recordEvent: recordEvent(ctx),
              listAlerts: listAlerts(ctx),
              createAlert: createAlert(ctx),
              updateAlert: updateAlert(ctx),
              deleteAlert: deleteAlert(ctx),
              forgetOwner: forgetOwner(ctx),
              listMcpTools: listMcpTools(ctx),
              fetchDocument: fetchDocument(ctx),
              tryTool: registered(tryTool(ctx), { structFields: { 3: "arguments", 4: "variables" } }),
            },
            queues: {
              "fold-conversation-counts": foldQueue(db, COUNTS),
              "fold-figures": foldQueue(db, figuresFold()),
              "fold-stored-bytes": foldQueue(db, STORED_BYTES_FOLD),
              ...indexConversationsQueue(patient, clock),
              ...forgetQueues(ctx),
              ...relay.queues,
              ...alertQueue(ctx, log),
              ...mailQueue(ctx, log),
              ...analysisQueue(ctx, log),
            },
            sweeps: [...silences, expiredConversations(ctx, log), goneConversations(patient), oldRecentFigures(db)],
            stop: async () => {
              relay.stop();
              mail?.close();
              egress.close();
              analysisEgress.close();
              sessions.close();
              unobserve();
              toolEgress.close();
              agents.close();
              await replica?.end({ timeout: 5 });
            },
          },
        ];
      },
    },
    config,
    log,
  );
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
