import { type ConfigOf, positiveInteger, positiveNumber, readConfig } from "@parley/shared/config";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { SERVICE_VARIABLES } from "@parley/shared/service";
import { makeValidator, str } from "envalid";
import { CREDENTIAL_VARIABLES, type Credentials, credentialsOf } from "./model/providers.ts";

const allowList = makeValidator(parseAllowList);

const VARIABLES = {
  ...SERVICE_VARIABLES,
  PARLEY_DATABASE_REPLICA_URL: str({ default: "", desc: "as DATABASE_URL but of a replica, to read lists from" }),
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_WEBHOOK_ADDRESS: str({ desc: "host:port of the webhook dispatcher" }),
  PARLEY_ALLOWED_PRIVATE_HOSTS: allowList({
    default: [],
    desc: "hosts and CIDRs that CUSTOM_LLM may reach though private",
  }),
  PARLEY_LLM_DEADLINE_MS: positiveNumber({ default: 60_000, desc: "to the first word, over all attempts" }),
  PARLEY_LLM_RETRY_MS: positiveNumber({
    default: 250,
    desc: "before a model is asked again, further waits are longer",
  }),
  PARLEY_LLM_STALL_MS: positiveNumber({ default: 30_000, desc: "between two pieces of a reply" }),
  PARLEY_LLM_ANSWER_MAX_BYTES: positiveNumber({
    default: 16 * 1024 * 1024,
    desc: "of one answer as its provider sends it",
  }),
  PARLEY_REPLY_MAX_CHARACTERS: positiveInteger({ default: 1_000_000, desc: "of one reply" }),
  PARLEY_OWNER_TURNS_MAX: positiveInteger({
    default: 1_024,
    desc: "of one owner under way in a process; a turn of long texts counts as several",
  }),
  PARLEY_TURN_LEASE_MS: positiveNumber({ default: 15_000, desc: "that a turn whose process died keeps its session" }),
  PARLEY_REPLY_CHECKPOINT_MS: positiveNumber({
    default: 2_000,
    desc: "after which what there is of a streamed reply is stored, again and again",
  }),
  PARLEY_CHAT_CONTEXT_TOKENS: positiveNumber({ default: 32_000, desc: "of a session that the model sees" }),
  PARLEY_CHAT_IDLE_MINUTES: positiveNumber({ default: 30, desc: "after which a silent chat session ends" }),
  PARLEY_ANALYSES_AT_ONCE: positiveInteger({ default: 16, desc: "ended conversations analyzed side by side" }),
  PARLEY_ANALYSES_PER_OWNER: positiveInteger({ default: 4, desc: "of these, of one owner" }),
  PARLEY_CALL_IDLE_MINUTES: positiveNumber({ default: 240, desc: "after which a call fails whose runtime is silent" }),
};

export interface ConversationConfig extends ConfigOf<typeof VARIABLES> {
  credentials: Credentials;
}

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readConversationConfig(env: Record<string, string | undefined>): ConversationConfig {
  const read: Record<string, unknown> = readConfig(env, { ...VARIABLES, ...CREDENTIAL_VARIABLES });
  return { ...(read as ConfigOf<typeof VARIABLES>), credentials: credentialsOf(read) };
}
