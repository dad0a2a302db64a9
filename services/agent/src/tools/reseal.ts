import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentConfig } from "../config.ts";
import { findTool, listToolsWithSigningSecrets, updateToolRow } from "../store/tools.ts";
import { resealedTool } from "./signing.ts";

/**
 * Reseals every tool's signing secrets with the first key of PARLEY_ENCRYPTION_KEY, so that you can remove the others. Safe while the
 * service runs. @throws when one cannot be opened
 */
export async function resealTools(config: AgentConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-agent-reseal" });
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const keys = await listToolsWithSigningSecrets(db);
  try {
    for (const key of keys) {
      await db.begin(async (tx) => {
        await lockStoredBytes(tx, key.ownerId);
        const row = await findTool(tx, key);
        if (row) await updateToolRow(tx, resealedTool(sealer, row));
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  log.info({ tools: keys.length }, "every tool's signing secret is sealed with the first encryption key");
}
