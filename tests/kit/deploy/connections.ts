import { readConfig } from "@parley/shared/config";
import { PATIENT_MAX, SERVICE_VARIABLES } from "@parley/shared/process/service";

/** Those on which the account service hears of jobs and of keys, and the agent service of jobs and of changes. */
const LISTENING_MAX = 2;

/** The most connections to Postgres that one process of a service has with the default settings. */
export function connectionsOfProcess(): number {
  const { PARLEY_DATABASE_POOL } = readConfig({ DATABASE_URL: "postgres://" }, SERVICE_VARIABLES);
  return PARLEY_DATABASE_POOL + PATIENT_MAX + LISTENING_MAX;
}
