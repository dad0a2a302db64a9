import { Type } from "@sinclair/typebox";
import { Json, Text } from "./types.ts";

// The fields of carriers' requests that Parley reads. The carriers' own documents describe the rest.

export const TwilioCallback = Type.Object(
  {
    CallSid: Type.String({ description: "Twilio's ID of the call." }),
    CallStatus: Type.Optional(Type.String({ description: "State of the call, such as `ringing` or `completed`." })),
    From: Type.Optional(Type.String({ description: "The calling number." })),
    To: Type.Optional(Type.String({ description: "The called number." })),
    AnsweredBy: Type.Optional(Type.String({ description: "With answering machine detection: who answered." })),
  },
  {
    $id: "TwilioCallbackRequest",
    description: "Parameters of Twilio's voice webhooks and status callbacks. Others may be present.",
  },
);

export const PlivoCallback = Type.Object(
  {
    CallUUID: Type.String({ description: "Plivo's ID of the call." }),
    CallStatus: Type.Optional(Type.String({ description: "State of the call, such as `ringing` or `completed`." })),
    From: Type.Optional(Type.String({ description: "The calling number." })),
    To: Type.Optional(Type.String({ description: "The called number." })),
    Machine: Type.Optional(Type.String({ description: "With machine detection: whether a machine answered." })),
  },
  { $id: "PlivoCallbackRequest", description: "Parameters of Plivo's callbacks. Others may be present." },
);

export const WhatsAppCallback = Type.Object(
  {
    object: Type.String({ description: "`whatsapp_business_account`." }),
    entry: Type.Array(Json, {
      description: "Changes, each with messages from people or statuses of messages to them.",
    }),
  },
  { $id: "WhatsAppCallbackRequest", description: "A notification of the webhook field `messages`, as Meta sends it." },
);

export const DailyWebhook = Type.Object(
  {
    type: Type.String({ description: "What happened, such as `participant.left`." }),
    payload: Type.Optional(
      Type.Object(
        {
          room: Type.Optional(Type.String({ description: "Name of the room." })),
          session_id: Type.Optional(Type.String({ description: "Daily's ID of the participant's stay." })),
          user_id: Type.Optional(
            Type.String({
              description: "The user ID in the participant's token; for the other party, the conversation's ID.",
            }),
          ),
          end_ts: Type.Optional(Type.Number({ description: "When the meeting ended, in seconds." })),
        },
        { description: "Who and where. Other fields may be present.", additionalProperties: true },
      ),
    ),
  },
  { $id: "DailyWebhookRequest", description: "An event of a room, as Daily sends it.", additionalProperties: true },
);

/** Meta's handshake; the verify token is the security scheme's. */
export const HandshakeQuery = Type.Object({
  "hub.mode": Text({ description: "`subscribe`.", example: "subscribe" }),
  "hub.challenge": Text({
    pattern: "^[\\w-]{1,200}$",
    description: "The text to return.",
    example: "1158201444",
  }),
});

export const Document = Type.String({ description: "Instructions for the call, in the carrier's own markup." });
export const Challenge = Type.String({ description: "`hub.challenge` of the request." });
export const Sdp = Type.String({ description: "A session description (RFC 8866)." });
export const Reply = Type.String({ description: "The reply, word by word." });
