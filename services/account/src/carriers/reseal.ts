import { resealEach } from "@parley/shared/db/reseal";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { AccountConfig } from "../config.ts";
import { listCarrierKeys, lockCarrier, updateSealed } from "../store/carriers.ts";
import { resealSettings } from "./sealed-settings.ts";

/** Reseals every carrier's secrets. @throws when one cannot be opened */
export async function resealCarriers(config: AccountConfig, log: Logger): Promise<void> {
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const carriers = await resealEach(config, "account", listCarrierKeys, async (tx, key) => {
    const row = await lockCarrier(tx, key);
    const fresh = row && resealSettings(sealer, row, row);
    if (fresh && !Bun.deepEquals(fresh.sealed, row.sealed)) await updateSealed(tx, key, fresh.sealed);
  });
  log.info({ carriers }, "every carrier's secrets are sealed with the first encryption key");
}
