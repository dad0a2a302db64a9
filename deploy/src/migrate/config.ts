import { type ConfigOf, readConfig } from "@parley/shared/config";
import { str } from "envalid";

const VARIABLES = {
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
};

export type MigrateConfig = ConfigOf<typeof VARIABLES>;

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readMigrateConfig(env: Record<string, string | undefined>): MigrateConfig {
  return readConfig(env, VARIABLES);
}
