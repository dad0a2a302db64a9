import { type ConfigOf, readConfig } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/service";

const VARIABLES = { ...SERVICE_VARIABLES };

export type DispatcherConfig = ConfigOf<typeof VARIABLES>;

/** @throws ConfigError naming every variable that is missing or wrong. */
export function readDispatcherConfig(env: Record<string, string | undefined>): DispatcherConfig {
  return readConfig(env, VARIABLES);
}
