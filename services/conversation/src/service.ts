import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Clock } from "@parley/shared/clock";
import { foldQueue } from "@parley/shared/folds/fold";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import { IDEMPOTENCY_KEYS } from "@parley/shared/idempotency/store";
import type { Logger } from "@parley/shared/log";
import type { Feature } from "@parley/shared/process/feature";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { registered } from "@parley/shared/rpc/registration";
import { STORED_BYTES_FOLD } from "@parley/shared/stored-bytes/fold";
import { alertQueue } from "./alerts/check-alerts.ts";
import { mailQueue } from "./alerts/mail.ts";
import { analysisQueue } from "./analysis/queue.ts";
import type { ConversationConfig } from "./config.ts";
import type { ConversationContext } from "./context.ts";
import { eventRelayQueue } from "./events/relay.ts";
import { idleTakeOvers, operatorMessages } from "./live/control.ts";
import type { LiveFeature } from "./live/live.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openContext } from "./open-context.ts";
import { forgetQueues } from "./retention/forget.ts";
import { silentCalls, silentChats, silentThreads } from "./retention/idle.ts";
import { expiredConversations } from "./retention/retention.ts";
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
import { TURN_KEYS } from "./store/turns/turn-keys.ts";
import type { ToolSource } from "./tools/toolbox.ts";

/**
 * @param further tools that agents have besides those of the configuration
 * @param agentsMs the time by which the agent service's last answers stand, in milliseconds of a clock that only goes forward
 */
export function startConversation(
  config: ConversationConfig,
  log: Logger,
  clock?: Clock,
  further: readonly ToolSource[] = [],
  agentsMs?: () => number,
): Promise<Running> {
  return startService(
    {
      name: "conversation",
      definition: ConversationServiceService,
      migrations: MIGRATIONS,
      clock,
      build: async (given) => {
        const { ctx, live, close } = await openContext(config, log, given, { further, agentsMs });
        const { db, patient, clock } = given;
        const relay = eventRelayQueue(ctx, log);
        const silences = [silentChats(ctx), silentCalls(ctx), silentThreads(ctx)];
        return [
          ctx.room,
          ctx.turns,
          watching(ctx, live),
          chats(ctx),
          calls(ctx),
          stored(ctx),
          agentsWork(ctx, config),
          ownersChanges(ctx),
          alerts(ctx, log),
          {
            queues: {
              "fold-conversation-counts": foldQueue(db, COUNTS),
              "fold-figures": foldQueue(db, figuresFold()),
              "fold-stored-bytes": foldQueue(db, STORED_BYTES_FOLD),
              ...indexConversationsQueue(patient, clock),
              ...forgetQueues(ctx),
              ...relay.queues,
              ...analysisQueue(ctx, log),
            },
            sweeps: [
              ...silences,
              expiredConversations(ctx, log),
              goneConversations(patient),
              oldRecentFigures(db),
              expiredKeys(db, [TURN_KEYS, IDEMPOTENCY_KEYS]),
            ],
            stop: async () => {
              relay.stop();
              await close();
            },
          },
        ];
      },
    },
    config,
    log,
  );
}

type ConversationFeature = Feature<typeof ConversationServiceService>;

function watching(ctx: ConversationContext, live: LiveFeature): ConversationFeature {
  return {
    ...live,
    handlers: {
      watchConversations: watchConversations(ctx),
      controlConversation: controlConversation(ctx),
      reportCall: reportCall(ctx),
    },
    queues: operatorMessages(ctx),
    sweeps: [...live.sweeps, idleTakeOvers(ctx)],
  };
}

function chats(ctx: ConversationContext): ConversationFeature {
  return {
    handlers: {
      startChat: startChat(ctx),
      completeTurn: completeTurn(ctx),
      runTurns: runTurns(ctx),
      setDelivery: setDelivery(ctx),
      checkRoom: checkRoom(ctx),
    },
  };
}

/** Those of the voice service, and of voice runtimes with what models and callers gave them. */
function calls(ctx: ConversationContext): ConversationFeature {
  return {
    handlers: {
      getCallSetup: registered(getCallSetup(ctx), { structFields: { 3: "dynamic_variables" } }),
      startConversation: registered(startCall(ctx), { structFields: { 9: "dynamic_variables", 10: "metadata" } }),
      appendTranscript: appendTranscript(ctx),
      converse: converse(ctx),
      waitForToolCalls: waitForToolCalls(ctx),
      askModel: askModel(ctx),
      giveClientResult: giveClientResult(ctx),
      runCallTool: registered(runCallTool(ctx), { structFields: { 4: "arguments" } }),
      completeConversation: completeConversation(ctx),
    },
  };
}

/** What is stored of conversations. A year of many agents takes as long as a list. */
function stored(ctx: ConversationContext): ConversationFeature {
  return {
    handlers: {
      getChatSession: registered(getChatSession(ctx), { isList: true }),
      listChatSessions: registered(listChatSessions(ctx), { isList: true }),
      getConversation: registered(getConversation(ctx), { isList: true }),
      checkConversation: checkConversation(ctx),
      listConversations: registered(listConversations(ctx), { isList: true }),
      analyzeConversation: analyzeConversation(ctx),
      countUsage: countUsage(ctx),
      listDocumentReplies: registered(listDocumentReplies(ctx), { isList: true }),
      getStatistics: registered(getStatistics(ctx), { isList: true }),
      getVersionFigures: registered(getVersionFigures(ctx), { isList: true }),
      compareVersions: registered(compareVersions(ctx), { isList: true }),
    },
  };
}

/** What agents are made and tested with. */
function agentsWork(ctx: ConversationContext, config: ConversationConfig): ConversationFeature {
  return {
    handlers: {
      getModelSetup: getModelSetup(config),
      askForJson: askForJson(ctx),
      listMcpTools: listMcpTools(ctx),
      fetchDocument: fetchDocument(ctx),
      tryTool: registered(tryTool(ctx), { structFields: { 3: "arguments", 4: "variables" } }),
      tryStartWebhook: registered(tryStartWebhook(ctx), { structFields: { 5: "metadata", 6: "dynamic_variables" } }),
    },
  };
}

/** What other services tell of owners. */
function ownersChanges(ctx: ConversationContext): ConversationFeature {
  return {
    handlers: {
      setOwnerSettings: setOwnerSettings(ctx),
      setWantedEvents: setWantedEvents(ctx),
      recordEvent: recordEvent(ctx),
      forgetOwner: forgetOwner(ctx),
    },
  };
}

function alerts(ctx: ConversationContext, log: Logger): ConversationFeature {
  return {
    handlers: {
      listAlerts: listAlerts(ctx),
      createAlert: createAlert(ctx),
      updateAlert: updateAlert(ctx),
      deleteAlert: deleteAlert(ctx),
    },
    queues: { ...alertQueue(ctx, log), ...mailQueue(ctx, log) },
  };
}
