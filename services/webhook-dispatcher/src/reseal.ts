import { resealEach } from "@parley/shared/db/reseal";
import { nullIfNotFound } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { DispatcherConfig } from "./config.ts";
import { resealed } from "./secrets.ts";
import { listDestinationKeys, lockDestination, updateDestinationRow } from "./store/destinations.ts";

/** Reseals every destination's secrets. */
export async function resealDestinations(config: DispatcherConfig, log: Logger): Promise<void> {
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const destinations = await resealEach(config, "webhook", listDestinationKeys, async (tx, key) => {
    const row = await lockDestination(tx, key).catch(nullIfNotFound);
    const secrets = row && resealed(sealer, row);
    if (row && !Bun.deepEquals({ ...row, ...secrets }, row)) await updateDestinationRow(tx, { ...row, ...secrets });
  });
  log.info({ destinations }, "every secret is sealed with the first encryption key");
}
