import { type ConfigOf, readConfig } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/service";
import { str } from "envalid";

const VARIABLES = {
  ...SERVICE_VARIABLES,
  PARLEY_CONVERSATION_ADDRESS: str({
    desc: "host:port of the conversation service, which receives retention settings",
  }),
};

export type AccountConfig = ConfigOf<typeof VARIABLES>;

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readAccountConfig(env: Record<string, string | undefined>): AccountConfig {
  return readConfig(env, VARIABLES);
}
