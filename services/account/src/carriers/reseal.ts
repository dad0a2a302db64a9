import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { AccountConfig } from "../config.ts";
import { listCarrierKeys, lockCarrier, updateSealed } from "../store/carriers.ts";
import { resealSettings } from "./sealed-settings.ts";

/**
 * Reseals every carrier's secrets with the first key of PARLEY_ENCRYPTION_KEY, so that you can remove the others. Safe while the
 * service runs. @throws when one cannot be opened
 */
export async function resealCarriers(config: AccountConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-account-reseal" });
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const keys = await listCarrierKeys(db);
  try {
    for (const key of keys) {
      await db.begin(async (tx) => {
        const row = await lockCarrier(tx, key);
        const fresh = row && resealSettings(sealer, row, row);
        if (fresh && !Bun.deepEquals(fresh.sealed, row.sealed)) await updateSealed(tx, key, fresh.sealed);
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  log.info({ carriers: keys.length }, "every carrier's secrets are sealed with the first encryption key");
}
