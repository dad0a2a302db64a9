import type { OperationExamples } from "../example.ts";
import { AGENT_ID, SESSION_ID } from "../values.ts";

export const WHATSAPP_EXAMPLES: OperationExamples = {
  sendWhatsAppMessage: {
    request: {
      agent_id: AGENT_ID,
      to_mobile_number: "+14155550123",
      template: {
        name: "order_update",
        language: "en_US",
        components: [{ type: "body", parameters: [{ type: "text", text: "Ada" }] }],
      },
    },
    response: {
      message_id: "0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2d",
      conversation_id: SESSION_ID,
      status: "QUEUED",
    },
  },
};
