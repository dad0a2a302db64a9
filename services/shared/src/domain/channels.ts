/** Where conversations are held, as owners and their systems name it. */
export const CHANNELS = ["chat", "web", "telephony", "daily", "whatsapp", "widget"] as const;

export type Channel = (typeof CHANNELS)[number];
