import { type ConfigOf, readConfig } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/service";

export type PromptConfig = ConfigOf<typeof SERVICE_VARIABLES>;

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readPromptConfig(env: Record<string, string | undefined>): PromptConfig {
  return readConfig(env, SERVICE_VARIABLES);
}
