import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import { createEgress } from "@parley/shared/egress/egress";
import type { WorkerSettings } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process/run-process";
import { startService } from "@parley/shared/process/service";
import { createClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import { createSealer } from "@parley/shared/sealing";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { fewAtOnce, fewUnverified } from "@parley/shared/shares/few-at-once";
import { createPace, type PaceSettings } from "@parley/shared/shares/pace";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { counter } from "@parley/shared/telemetry/instruments";
import type { MessagingConfig } from "./config.ts";
import type { MessagingContext } from "./context.ts";
import { MIGRATIONS } from "./migrations.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { checkWhatsAppConnection } from "./rpc/check-whatsapp-connection.ts";
import { countWidgetMessage } from "./rpc/count-widget-message.ts";
import { createWidgetToken } from "./rpc/create-widget-token.ts";
import { forgetOwner } from "./rpc/forget-owner.ts";
import { handleWhatsAppCallback } from "./rpc/handle-whatsapp-callback.ts";
import { openWidgetToken } from "./rpc/open-widget-token.ts";
import { sendWhatsAppTemplate } from "./rpc/send-whatsapp-template.ts";
import { verifyWhatsAppWebhook } from "./rpc/verify-whatsapp-webhook.ts";
import { deliveryQueue } from "./threads/delivery-queue.ts";
import { oldMessages } from "./threads/sweep.ts";
import { threadQueue } from "./threads/thread-queue.ts";
import { connections } from "./whatsapp/connections.ts";
import { graph } from "./whatsapp/graph.ts";
import { widgetTokens } from "./widget/token.ts";

const sent = counter("parley.whatsapp.messages", "WhatsApp messages to people, by outcome");
const tokensRefused = counter("parley.whatsapp.tokens.refused", "Messages for which WhatsApp refused the access token");
const refused = counter("parley.whatsapp.callbacks.refused", "WhatsApp callbacks that were refused, by reason");
const dropped = counter(
  "parley.whatsapp.dropped",
  "WhatsApp messages that were dropped because one person wrote too many",
);

const MIB = 1024 * 1024;
/** Room for two notes of one owner at a time, and a dozen in all. */
const NOTES = { what: "voice messages", totalBytes: 24 * MIB, ownerBytes: 4 * MIB, waitingMax: 1_000 };

/** The most callbacks of one owner being stored, which could otherwise take every connection to the database. */
const TAKE_AT_ONCE = { what: "callbacks", atOnce: 2, waitingMax: 1_000 };

/**
 * Messages and statuses of one owner, per second and at once; a long callback counts as more (handle-whatsapp-callback.ts). Each
 * takes a third of a millisecond of CPU in all processes. A number sends at most 80 messages a second by default, and WhatsApp
 * repeats callbacks that are refused.
 */
const NEWS: PaceSettings = {
  refusal: "This account has too many WhatsApp messages and statuses at once. Try again.",
  perSecond: 500,
  atOnce: 2_000,
  waitMaxMs: 2_000,
};

/** Messages of one person: more than anybody types, and a small part of the owner's. */
const OF_A_CONTACT: PaceSettings = { perSecond: 10, atOnce: 100, waitMaxMs: 0 };

interface MessagingSettings extends Pick<WorkerSettings, "pollMs"> {
  clock?: Clock;
}

/** @param settings a clock, and the polling interval of the job worker, for tests with a fake clock */
export function startMessaging(
  config: MessagingConfig,
  log: Logger,
  { clock: given, pollMs }: MessagingSettings = {},
): Promise<Running> {
  return startService(
    {
      name: "messaging",
      definition: MessagingServiceService,
      migrations: MIGRATIONS,
      clock: given,
      pollMs,
      build: ({ db, clock, credentials, stopping }) => {
        const connect = <D extends Definition>(definition: D, peer: string, address: string) =>
          createClient(definition, { peer, address, credentials });
        const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
        const agents = connect(AgentServiceService, "agent", config.PARLEY_AGENT_ADDRESS);
        const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
        const voices = connect(VoiceServiceService, "voice", config.PARLEY_VOICE_ADDRESS);
        const egress = createEgress({ allow: [] });
        const noteShares = byteShares(NOTES);
        const unobserve = observeHeldBytes("voice notes", () => noteShares.heldBytes());
        const ctx: MessagingContext = {
          db,
          agents,
          conversations,
          voices,
          connections: connections(accounts, agents),
          graphOf: (connection) => graph(connection, config.PARLEY_WHATSAPP_BASE_URL, egress.fetch),
          noteShares,
          verifyFewAtOnce: fewUnverified(),
          newsPace: createPace(NEWS),
          contactPace: createPace(OF_A_CONTACT),
          takeFewAtOnce: fewAtOnce(TAKE_AT_ONCE),
          widgetMessagesPerDay: config.PARLEY_WIDGET_MESSAGES_PER_DAY,
          widgetMessagesPerAddress: config.PARLEY_WIDGET_MESSAGES_PER_ADDRESS,
          whatsAppMessagesPerDay: config.PARLEY_WHATSAPP_MESSAGES_PER_DAY,
          whatsAppMessagesPerContact: config.PARLEY_WHATSAPP_MESSAGES_PER_CONTACT,
          widgetTokens: widgetTokens(createSealer(config.PARLEY_TOKEN_KEY)),
          count: (outcome) => sent().add(1, { outcome }),
          countTokenRefused: () => tokensRefused().add(1),
          countDropped: (messages) => dropped().add(messages),
          countRefused: (reason) => refused().add(1, { reason }),
          clock,
          log,
        };
        // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
        for (const outcome of ["sent", "failed"]) sent().add(0, { outcome });
        for (const reason of ["unknown", "signature"]) refused().add(0, { reason });
        tokensRefused().add(0);
        dropped().add(0);
        return [
          {
            handlers: {
              createWidgetToken: createWidgetToken(ctx),
              openWidgetToken: openWidgetToken(ctx),
              countWidgetMessage: countWidgetMessage(ctx),
              checkWhatsAppConnection: checkWhatsAppConnection(ctx),
              verifyWhatsAppWebhook: verifyWhatsAppWebhook(ctx),
              handleWhatsAppCallback: handleWhatsAppCallback(ctx),
              sendWhatsAppTemplate: sendWhatsAppTemplate(ctx),
              forgetOwner: forgetOwner(ctx),
            },
            queues: { ...threadQueue(ctx, stopping), ...deliveryQueue(ctx), ...forgetOwners(db) },
            sweeps: [oldMessages(db)],
            stop: () => {
              unobserve();
              egress.close();
              for (const client of [accounts, agents, conversations, voices]) client.close();
            },
          },
        ];
      },
    },
    config,
    log,
  );
}
