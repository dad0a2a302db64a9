import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { AgentConfig } from "./config.ts";
import { resealLlm } from "./llm-secrets.ts";
import { listAgentKeysWithLlm, lockLlm, updateLlm } from "./store/agents.ts";

/** Seals every stored key of a model with the first of PARLEY_ENCRYPTION_KEY, so that the others can go. Safe beside a running service. */
export async function resealAgents(config: AgentConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-agent-reseal" });
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  let resealed = 0;
  try {
    for (const key of await listAgentKeysWithLlm(db)) {
      await db.begin(async (tx) => {
        const stored = await lockLlm(tx, key);
        const fresh = stored && resealLlm(stored, sealer, key.ownerId);
        if (!fresh || Bun.deepEquals(fresh, stored)) return;
        await updateLlm(tx, key, fresh);
        resealed++;
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  log.info({ resealed }, "every key is sealed with the first encryption key");
}
