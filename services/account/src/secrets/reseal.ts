import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { AccountConfig } from "../config.ts";
import { listSecretKeys, lockSecret, updateSealedValue } from "../store/secrets.ts";
import { resealSecret } from "./sealed-secret.ts";

/**
 * Reseals every secret with the first key of PARLEY_ENCRYPTION_KEY, so that you can remove the others. Safe while the service runs.
 * @throws when one cannot be opened
 */
export async function resealSecrets(config: AccountConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-account-reseal" });
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const keys = await listSecretKeys(db);
  try {
    for (const key of keys) {
      await db.begin(async (tx) => {
        const sealed = await lockSecret(tx, key);
        if (sealed) await updateSealedValue(tx, key, resealSecret(sealer, sealed));
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  log.info({ secrets: keys.length }, "every secret is sealed with the first encryption key");
}
