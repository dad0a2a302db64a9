import { CARRIER_BASE_URLS } from "@parley/shared/carriers/base-urls";
import { configReader, positiveInteger } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { ENCRYPTION_KEY } from "@parley/shared/sealing";
import { str } from "envalid";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readAccountConfig = configReader({
  ...SERVICE_VARIABLES,
  PARLEY_CONVERSATION_ADDRESS: str({
    desc: "host:port of the conversation service, which receives retention settings",
  }),
  PARLEY_VOICE_ADDRESS: str({ desc: "host:port of the voice service, which ends the calls of deleted owners" }),
  PARLEY_MESSAGING_ADDRESS: str({
    desc: "host:port of the messaging service, which deletes the messages of deleted owners",
  }),
  PARLEY_KNOWLEDGE_ADDRESS: str({
    desc: "host:port of the knowledge service, which deletes the documents of deleted owners",
  }),
  PARLEY_AGENT_ADDRESS: str({
    desc: "host:port of the agent service, which knows the tools that use secrets and deletes the agents of deleted owners",
  }),
  PARLEY_PROMPT_ADDRESS: str({ desc: "host:port of the prompt service, which deletes the prompts of deleted owners" }),
  PARLEY_WEBHOOK_ADDRESS: str({
    desc: "host:port of the webhook dispatcher, which deletes the webhooks of deleted owners",
  }),
  PARLEY_ENCRYPTION_KEY: ENCRYPTION_KEY({ desc: "32 bytes in base64, the same on every replica" }),
  PARLEY_PUBLIC_URL: str({
    default: "",
    desc: "https:// address where carriers reach the gateway; without one, no phone number can be imported",
  }),
  PARLEY_CALLS_PER_DAY: positiveInteger({
    default: 200,
    desc: "calls and transfers of an owner's agents in a UTC day, unless the operator sets another number for the owner",
  }),
  PARLEY_CALL_MINUTES_PER_DAY: positiveInteger({ default: 300, desc: "minutes of these calls, likewise" }),
  PARLEY_CODE_CALLS_OWNER: str({
    default: "",
    desc: "owner_id of the operator's own account, whose first imported number calls numbers to tell the codes that prove whose they are; without it, nobody is called",
  }),
  ...CARRIER_BASE_URLS,
});

export type AccountConfig = ReturnType<typeof readAccountConfig>;
