import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { type AgentConfig, modelKeysOf } from "../config.ts";
import { addressIn, listKeys, lockKey, updateKey } from "../store/agent-keys.ts";

/**
 * Seals every stored key of models, speech and start webhooks with the first key in PARLEY_ENCRYPTION_KEY, so that the others can be
 * removed. Safe beside a running service.
 * @throws at the end, when some keys could not be opened
 */
export async function resealAgents(config: AgentConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-agent-reseal" });
  const keys = modelKeysOf(config);
  let resealed = 0;
  let unreadable = 0;
  try {
    for (const key of await listKeys(db)) {
      await db.begin(async (tx) => {
        await lockStoredBytes(tx, key.ownerId);
        const sealed = await lockKey(tx, key);
        if (sealed === null) return;
        try {
          const sealedKey = keys.reseal(sealed, { ...key, ...addressIn(key.keyUse) });
          if (sealedKey === sealed) return;
          await updateKey(tx, { ...key, sealedKey });
          resealed++;
        } catch (err) {
          unreadable++;
          log.error({ err, owner_id: key.ownerId, agent_id: key.agentId }, "a key cannot be read");
        }
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  if (unreadable > 0)
    throw new Error(`${unreadable} keys of agents cannot be read; the others are sealed. See the log.`);
  log.info({ resealed }, "every key is sealed with the first encryption key");
}
