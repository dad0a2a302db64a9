import { configReader, positiveInteger } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { str } from "envalid";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readPromptConfig = configReader({
  ...SERVICE_VARIABLES,
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service, whose agents follow prompts" }),
  PARLEY_PROMPTS_OWNER_BYTES: positiveInteger({
    default: 1024 ** 3,
    desc: "limit for all prompts of one owner, with their versions",
  }),
});

export type PromptConfig = ReturnType<typeof readPromptConfig>;
