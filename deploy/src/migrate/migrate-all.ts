import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { provisionRoles, SCHEMAS, type Schema } from "@parley/shared/db/provision";
import type { Logger } from "@parley/shared/log";
import type { MigrateConfig } from "./config.ts";
import { MIGRATIONS } from "./migrations.ts";

/**
 * Creates the roles and schemas, given an administrator, and migrates each schema as its own role. Services also
 * migrate when they start; doing it here lets a release fail before the first of them is replaced.
 */
export async function migrateAll(config: MigrateConfig, log: Logger): Promise<void> {
  const urls: Record<Schema, string> = {
    account: config.ACCOUNT_DATABASE_URL,
    agent: config.AGENT_DATABASE_URL,
    prompt: config.PROMPT_DATABASE_URL,
    conversation: config.CONVERSATION_DATABASE_URL,
    webhook: config.WEBHOOK_DATABASE_URL,
    voice: config.VOICE_DATABASE_URL,
    messaging: config.MESSAGING_DATABASE_URL,
    knowledge: config.KNOWLEDGE_DATABASE_URL,
  };
  if (config.DATABASE_ADMIN_URL !== "") {
    await provisionRoles(config.DATABASE_ADMIN_URL, urls);
    log.info("roles and schemas exist");
  }
  await migrateSchemas(urls, log);
}

/** @param urls how to connect to each schema as its own role */
export async function migrateSchemas(urls: Readonly<Record<Schema, string>>, log: Logger): Promise<void> {
  for (const schema of SCHEMAS) {
    const db = openDatabase({ url: urls[schema], max: 1, name: "parley-migrate" });
    try {
      await migrate(db, MIGRATIONS[schema]);
      log.info({ schema }, "migrated");
    } finally {
      await db.end({ timeout: 5 });
    }
  }
}
