import type { OperationExamples } from "./example.ts";
import { NUMBER, SESSION_ID } from "./values.ts";

const caller = "+14155550188";

export const CALLBACK_EXAMPLES: OperationExamples = {
  handleTwilioCallback: {
    request: { CallSid: "CA8f2c1de7f1a64b3fb3a0c9a1d2e3f405", CallStatus: "ringing", From: caller, To: NUMBER },
    text: '<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="wss://voice.example.com/v1/media/kqXh0FvYzZ3Yk0sQ9dJ1mP7u"/></Connect></Response>',
  },
  handlePlivoCallback: {
    request: { CallUUID: "7d4f0f2e-0d5b-4d3e-8b52-5c1d0a2f9e77", CallStatus: "ringing", From: caller, To: NUMBER },
    text: '<?xml version="1.0" encoding="UTF-8"?><Response><Speak language="en-US">This number is not in service.</Speak><Hangup/></Response>',
  },
  handleDailyWebhook: {
    request: {
      version: "1.0.0",
      type: "participant.left",
      id: "ptcpt-left-16168c97-f973-4eae-9642-020fe3fda5db-1769851800",
      payload: {
        room: `parley-${SESSION_ID}`,
        session_id: "16168c97-f973-4eae-9642-020fe3fda5db",
        user_id: SESSION_ID,
        user_name: "Ada",
        joined_at: 1_769_851_740.5,
        duration: 59.5,
      },
      event_ts: 1_769_851_800.25,
    },
  },
  verifyWhatsAppWebhook: { text: "1158201444" },
  handleWhatsAppCallback: {
    request: {
      object: "whatsapp_business_account",
      entry: [
        {
          id: "102290129340398",
          changes: [
            {
              field: "messages",
              value: {
                messaging_product: "whatsapp",
                metadata: { display_phone_number: "14155550123", phone_number_id: "106540352242922" },
                contacts: [{ profile: { name: "Ada" }, wa_id: "4917012345678" }],
                messages: [
                  {
                    from: "4917012345678",
                    id: "wamid.HBgNNDkxNzAxMjM0NTY3OBUCABIYFDNBQTdGMkU5RDFDNEI4QTZFMEYy",
                    timestamp: "1769851800",
                    type: "text",
                    text: { body: "Hello!" },
                  },
                ],
              },
            },
          ],
        },
      ],
    },
  },
};
