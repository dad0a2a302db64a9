import { resealEach } from "@parley/shared/db/reseal";
import type { Logger } from "@parley/shared/log";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { type AgentConfig, modelKeysOf } from "../config.ts";
import { addressIn, listKeys, lockKey, updateKey } from "../store/agent-keys.ts";

/** Reseals every key of models, speech and start webhooks. @throws at the end, when some keys could not be opened */
export async function resealAgents(config: AgentConfig, log: Logger): Promise<void> {
  const modelKeys = modelKeysOf(config);
  let unreadable = 0;
  const keys = await resealEach(config, "agent", listKeys, async (tx, key) => {
    await lockStoredBytes(tx, key.ownerId);
    const sealed = await lockKey(tx, key);
    if (sealed === null) return;
    try {
      const sealedKey = modelKeys.reseal(sealed, { ...key, ...addressIn(key.keyUse) });
      if (sealedKey !== sealed) await updateKey(tx, { ...key, sealedKey });
    } catch (err) {
      unreadable++;
      log.error({ err, owner_id: key.ownerId, agent_id: key.agentId }, "a key cannot be read");
    }
  });
  if (unreadable > 0)
    throw new Error(`${unreadable} keys of agents cannot be read; the others are sealed. See the log.`);
  log.info({ keys }, "every key is sealed with the first encryption key");
}
