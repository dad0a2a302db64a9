import { configReader, positiveInteger } from "@parley/shared/config";
import { allowList } from "@parley/shared/egress/allow-list";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { createSealer, ENCRYPTION_KEY } from "@parley/shared/sealing";
import { str } from "envalid";
import { createModelKeys, type ModelKeys } from "./model-keys/model-keys.ts";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readAgentConfig = configReader({
  ...SERVICE_VARIABLES,
  PARLEY_PROMPT_ADDRESS: str({ desc: "host:port of the prompt service" }),
  PARLEY_ACCOUNT_ADDRESS: str({ desc: "host:port of the account service, which has the owners' secrets" }),
  PARLEY_CONVERSATION_ADDRESS: str({
    desc: "host:port of the conversation service, which asks MCP servers and holds tests",
  }),
  PARLEY_VOICE_ADDRESS: str({ desc: "host:port of the voice service, which holds the calls of tests" }),
  PARLEY_KNOWLEDGE_ADDRESS: str({ desc: "host:port of the knowledge service, whose bases agents answer from" }),
  PARLEY_ALLOWED_PRIVATE_HOSTS: allowList({
    default: [],
    desc: "private hosts and CIDRs that agents' own endpoints and tools may be on",
  }),
  PARLEY_AGENTS_OWNER_BYTES: positiveInteger({
    default: 256 * 1024 ** 2,
    desc: "limit for all agents of one owner with their versions, tools, and tests with their results",
  }),
  PARLEY_CATALOGUE: str({ default: "", desc: "JSON file of models and voices in addition to the built-in ones" }),
  PARLEY_ENCRYPTION_KEY: ENCRYPTION_KEY({ desc: "32 bytes in base64, the same on every replica" }),
});

export type AgentConfig = ReturnType<typeof readAgentConfig>;

export function modelKeysOf(config: Pick<AgentConfig, "PARLEY_ENCRYPTION_KEY">): ModelKeys {
  return createModelKeys(createSealer(config.PARLEY_ENCRYPTION_KEY));
}
