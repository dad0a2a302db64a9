import { ConfigError } from "@parley/shared/config";
import { createLogger } from "@parley/shared/log";
import { readMigrateConfig } from "./config.ts";
import { migrateAll } from "./migrate-all.ts";

/**
 * Migrates the database for this build, once, before its processes start. Exits with 0, or with 1 on
 * failure.
 */
const log = createLogger("migrate");
try {
  await migrateAll(readMigrateConfig(process.env), log);
} catch (err) {
  if (err instanceof ConfigError) log.fatal(err.message);
  else log.fatal({ err }, "not migrated");
  process.exitCode = 1;
}
