import { configReader } from "@parley/shared/config";
import { str } from "envalid";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readMigrateConfig = configReader({
  DATABASE_ADMIN_URL: str({
    default: "",
    desc: "postgres:// address of a role that may create roles and schemas; without one, these must exist",
  }),
  ACCOUNT_DATABASE_URL: str({ desc: "DATABASE_URL of the account service" }),
  AGENT_DATABASE_URL: str({ desc: "DATABASE_URL of the agent service" }),
  PROMPT_DATABASE_URL: str({ desc: "DATABASE_URL of the prompt service" }),
  CONVERSATION_DATABASE_URL: str({ desc: "DATABASE_URL of the conversation service" }),
  WEBHOOK_DATABASE_URL: str({ desc: "DATABASE_URL of the webhook dispatcher" }),
  VOICE_DATABASE_URL: str({ desc: "DATABASE_URL of the voice service" }),
  MESSAGING_DATABASE_URL: str({ desc: "DATABASE_URL of the messaging service" }),
  KNOWLEDGE_DATABASE_URL: str({ desc: "DATABASE_URL of the knowledge service" }),
});

export type MigrateConfig = ReturnType<typeof readMigrateConfig>;
