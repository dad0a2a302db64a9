import type { Schema } from "../../../../api/client.ts";

export type StartWebhook = Schema["StartWebhookRequest"];
export type StartChannel = NonNullable<StartWebhook["channels"]>[number];

export const CHANNELS: Readonly<Record<StartChannel, string>> = {
  chat: "Chat",
  widget: "Website chat",
  whatsapp: "WhatsApp",
  telephony: "Phone calls",
  web: "Web calls",
  daily: "Daily rooms",
};
