import { type ConfigOf, positiveInteger, positiveNumber, readConfig } from "@parley/shared/config";
import { allowList } from "@parley/shared/egress/allow-list";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { makeValidator, str } from "envalid";
import { parseDefaultLlm } from "./model/default-llm.ts";
import { CREDENTIAL_VARIABLES, type Credentials, credentialsOf } from "./model/providers.ts";

const defaultLlm = makeValidator(parseDefaultLlm);

/** Its password is in no error. */
const mailServer = makeValidator<string>((text) => {
  if (text !== "" && !/^smtps?:\/\/[^/]/.test(text)) throw new Error("must begin with smtp:// or smtps://");
  return text;
});

const VARIABLES = {
  ...SERVICE_VARIABLES,
  PARLEY_DATABASE_REPLICA_URL: str({ default: "", desc: "like DATABASE_URL, for a replica that serves lists" }),
  PARLEY_ACCOUNT_ADDRESS: str({ desc: "host:port of the account service, which has the owners' secrets" }),
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_WEBHOOK_ADDRESS: str({ desc: "host:port of the webhook dispatcher" }),
  PARLEY_KNOWLEDGE_ADDRESS: str({ desc: "host:port of the knowledge service, from which agents answer" }),
  PARLEY_VOICE_ADDRESS: str({ desc: "host:port of the voice service, which holds calls and deletes recordings" }),
  PARLEY_MESSAGING_ADDRESS: str({ desc: "host:port of the messaging service, which sends operators' messages" }),
  PARLEY_TAKE_OVER_IDLE_MINUTES: positiveNumber({
    default: 10,
    desc: "minutes without a message after which a chat that was taken over goes back to its agent",
  }),
  PARLEY_SMTP_URL: mailServer({
    default: "",
    desc: "smtp:// or smtps:// URL of the mail server that tells owners of alerts; without it, no mail is sent",
  }),
  PARLEY_SMTP_FROM: str({ default: "Parley <parley@localhost>", desc: "sender of these mails" }),
  PARLEY_ALLOWED_PRIVATE_HOSTS: allowList({
    default: [],
    desc: "private hosts and CIDRs that CUSTOM_LLM and tools may reach",
  }),
  PARLEY_DEFAULT_LLM: defaultLlm({
    default: undefined,
    desc: "model that the dashboard gives new agents, as JSON in the form of an agent's llm; owners see it",
  }),
  PARLEY_LLM_DEADLINE_MS: positiveNumber({ default: 60_000, desc: "time to the first word, over all attempts" }),
  PARLEY_LLM_RETRY_MS: positiveNumber({
    default: 250,
    desc: "wait before the first retry of a model; later waits are longer",
  }),
  PARLEY_LLM_STALL_MS: positiveNumber({ default: 30_000, desc: "longest gap within a streamed reply" }),
  PARLEY_LLM_ANSWER_MAX_BYTES: positiveNumber({
    default: 16 * 1024 * 1024,
    desc: "limit for a provider's raw response",
  }),
  PARLEY_REPLY_MAX_CHARACTERS: positiveInteger({ default: 1_000_000, desc: "limit for one reply" }),
  PARLEY_CONVERSATIONS_OWNER_BYTES: positiveInteger({
    default: 100 * 1024 ** 3,
    desc: "limit for all conversations of one owner; beyond it, no further ones begin",
  }),
  PARLEY_OWNER_TURNS_MAX: positiveInteger({
    default: 1_024,
    desc: "concurrent turns per owner and process; a turn with long texts counts as several",
  }),
  PARLEY_TURN_LEASE_MS: positiveNumber({
    default: 15_000,
    desc: "how long a turn blocks its session after its process died",
  }),
  PARLEY_REPLY_CHECKPOINT_MS: positiveNumber({
    default: 2_000,
    desc: "interval at which a partial reply is stored while it streams",
  }),
  PARLEY_CHAT_CONTEXT_TOKENS: positiveNumber({ default: 32_000, desc: "how much of a session the model sees" }),
  PARLEY_CHAT_IDLE_MINUTES: positiveNumber({
    default: 30,
    desc: "a chat session ends after this long without a message",
  }),
  PARLEY_WHATSAPP_IDLE_HOURS: positiveNumber({
    default: 24,
    desc: "a WhatsApp conversation ends after this long without a message",
  }),
  PARLEY_ANALYSES_AT_ONCE: positiveInteger({
    default: 16,
    desc: "ended conversations that a process analyzes concurrently",
  }),
  PARLEY_ANALYSES_PER_OWNER: positiveInteger({ default: 4, desc: "the same, for one owner" }),
  PARLEY_CALL_IDLE_MINUTES: positiveNumber({
    default: 240,
    desc: "a call fails after this long without news from its runtime",
  }),
};

export interface ConversationConfig extends ConfigOf<typeof VARIABLES> {
  credentials: Credentials;
}

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readConversationConfig(env: Record<string, string | undefined>): ConversationConfig {
  const read: Record<string, unknown> = readConfig(env, { ...VARIABLES, ...CREDENTIAL_VARIABLES });
  return { ...(read as ConfigOf<typeof VARIABLES>), credentials: credentialsOf(read) };
}
