import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { type AgentConfig, modelKeysOf } from "../config.ts";
import { listAgentKeysWithLlm, lockLlm, updateLlm } from "../store/agents.ts";
import { resealLlm, type StoredLlm } from "./llm-secrets.ts";

/**
 * Seals every stored key of a model with the first of PARLEY_ENCRYPTION_KEY, so that the others can go, and binds it to its agent
 * unless PARLEY_SEAL_UNBOUND is set. Safe beside a running service.
 * @throws after all others when some keys cannot be read
 */
export async function resealAgents(config: AgentConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-agent-reseal" });
  const keys = modelKeysOf(config);
  let resealed = 0;
  let unreadable = 0;
  const reseal = (stored: StoredLlm, key: AgentKey) => {
    try {
      return resealLlm(stored, keys, key);
    } catch (err) {
      unreadable++;
      log.error({ err, owner_id: key.ownerId, agent_id: key.agentId }, "a model's key cannot be read");
      return null;
    }
  };
  try {
    for (const key of await listAgentKeysWithLlm(db)) {
      await db.begin(async (tx) => {
        const stored = await lockLlm(tx, key);
        const fresh = stored && reseal(stored, key);
        if (!fresh || Bun.deepEquals(fresh, stored)) return;
        await updateLlm(tx, key, fresh);
        resealed++;
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  if (unreadable > 0)
    throw new Error(`the keys of ${unreadable} agents cannot be read, the others are sealed: see the log`);
  log.info({ resealed }, "every key is sealed with the first encryption key");
}
