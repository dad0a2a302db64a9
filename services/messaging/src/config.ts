import { CARRIER_BASE_URLS } from "@parley/shared/carriers/base-urls";
import { type ConfigOf, positiveInteger, readConfig } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { ENCRYPTION_KEY } from "@parley/shared/sealing";
import { str } from "envalid";

const VARIABLES = {
  ...SERVICE_VARIABLES,
  PARLEY_ACCOUNT_ADDRESS: str({ desc: "host:port of the account service" }),
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_CONVERSATION_ADDRESS: str({ desc: "host:port of the conversation service" }),
  PARLEY_VOICE_ADDRESS: str({ desc: "host:port of the voice service" }),
  PARLEY_TOKEN_KEY: ENCRYPTION_KEY({ desc: "32 bytes in base64 that seal widgets' tokens, the same on every replica" }),
  PARLEY_WIDGET_MESSAGES_PER_DAY: positiveInteger({
    default: 10_000,
    desc: "messages per UTC day from website visitors to all agents of an owner",
  }),
  PARLEY_WIDGET_MESSAGES_PER_ADDRESS: positiveInteger({
    default: 1_000,
    desc: "messages per UTC day from website visitors of one address to all agents of an owner",
  }),
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

export type MessagingConfig = ConfigOf<typeof VARIABLES>;

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readMessagingConfig(env: Record<string, string | undefined>): MessagingConfig {
  return readConfig(env, VARIABLES);
}
