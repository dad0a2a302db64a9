import { resealEach } from "@parley/shared/db/reseal";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentConfig } from "../config.ts";
import { findTool, listToolsWithSigningSecrets, updateToolRow } from "../store/tools.ts";
import { resealedTool } from "./signing.ts";

/** Reseals every tool's signing secrets. @throws when one cannot be opened */
export async function resealTools(config: AgentConfig, log: Logger): Promise<void> {
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const tools = await resealEach(config, "agent", listToolsWithSigningSecrets, async (tx, key) => {
    await lockStoredBytes(tx, key.ownerId);
    const row = await findTool(tx, key);
    if (row) await updateToolRow(tx, resealedTool(sealer, row));
  });
  log.info({ tools }, "every tool's signing secret is sealed with the first encryption key");
}
