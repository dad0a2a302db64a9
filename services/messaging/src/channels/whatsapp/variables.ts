import { CARRIER_BASE_URLS } from "@parley/shared/carriers/base-urls";
import { type ConfigOf, positiveInteger } from "@parley/shared/config";

export const WHATSAPP_VARIABLES = {
  PARLEY_WHATSAPP_MESSAGES_PER_DAY: positiveInteger({
    default: 100_000,
    desc: "messages per UTC day to and from all WhatsApp numbers of an owner, replies aside",
  }),
  PARLEY_WHATSAPP_MESSAGES_PER_CONTACT: positiveInteger({
    default: 1_000,
    desc: "messages per UTC day from one person to all WhatsApp numbers of an owner",
  }),
  PARLEY_WHATSAPP_BASE_URL: CARRIER_BASE_URLS.PARLEY_WHATSAPP_BASE_URL,
};

export type WhatsAppConfig = ConfigOf<typeof WHATSAPP_VARIABLES>;
