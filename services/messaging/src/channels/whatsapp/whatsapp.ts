import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { fewUnverified } from "@parley/shared/shares/few-at-once";
import { counter } from "@parley/shared/telemetry/instruments";
import { intakeOf } from "../../threads/intake.ts";
import type { Channel, ChannelContext, ThreadedChannel } from "../channel.ts";
import { connections } from "./connections.ts";
import type { WhatsAppContext } from "./context.ts";
import { graph } from "./graph.ts";
import { checkConnection } from "./rpc/check-connection.ts";
import { handleCallback } from "./rpc/handle-callback.ts";
import { sendTemplate } from "./rpc/send-template.ts";
import { verifyWebhook } from "./rpc/verify-webhook.ts";
import type { WhatsAppConfig } from "./variables.ts";

const sent = counter("parley.whatsapp.messages", "WhatsApp messages to people, by outcome");
const tokensRefused = counter("parley.whatsapp.tokens.refused", "Messages for which WhatsApp refused the access token");
const refused = counter("parley.whatsapp.callbacks.refused", "WhatsApp callbacks that were refused, by reason");
const dropped = counter(
  "parley.whatsapp.dropped",
  "WhatsApp messages that were dropped because one person wrote too many",
);

const DAY_REFUSAL =
  "The account's WhatsApp numbers have had the maximum number of messages for one day: try again tomorrow, or have the operator raise PARLEY_WHATSAPP_MESSAGES_PER_DAY";

/** Messages to and from owners' WhatsApp numbers, over Meta's Cloud API. */
export function whatsApp(config: WhatsAppConfig, ctx: ChannelContext): Channel {
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  for (const outcome of ["sent", "failed"]) sent().add(0, { outcome });
  for (const reason of ["unknown", "signature"]) refused().add(0, { reason });
  tokensRefused().add(0);
  dropped().add(0);
  const known = connections(ctx.accounts, ctx.agents);
  const channel: ThreadedChannel = {
    name: "whatsapp",
    label: "WhatsApp",
    conversationType: ConversationType.CONVERSATION_TYPE_WHATSAPP,
    textCharactersMax: 4_096,
    // An owner, who knows the app's secret, can sign callbacks about messages that nobody wrote, and they are rows for weeks.
    perDay: {
      messages: config.PARLEY_WHATSAPP_MESSAGES_PER_DAY,
      ofContact: config.PARLEY_WHATSAPP_MESSAGES_PER_CONTACT,
      refusal: DAY_REFUSAL,
    },
    speaks: ({ whatsapp }) => whatsapp?.voice_replies === true,
    connect: async (ownerId, carrierId) => {
      const connection = await known.get(ownerId, carrierId);
      return (
        connection && {
          ownerId,
          agent: () => known.agentOf(connection),
          numbersWith: (contact) => ({ fromMobileNumber: `+${contact}`, toMobileNumber: connection.mobileNumber }),
          ...graph(connection, {
            baseUrl: config.PARLEY_WHATSAPP_BASE_URL,
            guardedFetch: ctx.guardedFetch,
            tokenRefused: () => tokensRefused().add(1),
          }),
        }
      );
    },
    countSent: (outcome) => sent().add(1, { outcome }),
    countDropped: (messages) => dropped().add(messages),
  };
  const own: WhatsAppContext = {
    ...ctx,
    connections: known,
    channel,
    intake: intakeOf(channel),
    verifyFewAtOnce: fewUnverified(),
    countRefused: (reason) => refused().add(1, { reason }),
  };
  return {
    threaded: channel,
    handlers: {
      checkWhatsAppConnection: checkConnection(own),
      verifyWhatsAppWebhook: verifyWebhook(own),
      handleWhatsAppCallback: handleCallback(own),
      sendWhatsAppTemplate: sendTemplate(own),
    },
  };
}
