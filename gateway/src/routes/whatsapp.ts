import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { WhatsAppMessage, WhatsAppMessageBody } from "../schemas/whatsapp.ts";
import { endpoint } from "./endpoint.ts";
import { versionOf } from "./version.ts";

const BODY_BYTES_MAX = 64 * 1024;

export function whatsAppRoutes(gate: GateContext, { messaging }: Clients) {
  return new Elysia().post(
    "/v1/public/whatsapp/messages",
    ...endpoint(
      gate,
      {
        id: "sendWhatsAppMessage",
        tag: "Chat",
        summary: "Start a WhatsApp conversation",
        description:
          "Starts a WhatsApp conversation with a template that Meta has approved. The agent answers the person's replies (docs/whatsapp.md).",
        scope: "messages",
        body: WhatsAppMessageBody,
        bodyBytesMax: BODY_BYTES_MAX,
        response: WhatsAppMessage,
        refuses: ["condition", "not_found", "forbidden", "conflict"],
      },
      async ({ ownerId, body, idempotency, write }) => {
        const { name, language, components = [] } = body.template;
        const template = { name, language, components: components as Record<string, unknown>[] };
        const { messageId, conversationId } = await messaging.sendWhatsAppTemplate(
          {
            ownerId,
            agentId: body.agent_id,
            ...versionOf(body),
            toMobileNumber: body.to_mobile_number,
            template,
            idempotency,
          },
          write,
        );
        return { message_id: messageId, conversation_id: conversationId, status: "QUEUED" };
      },
    ),
  );
}
