import { openDatabase } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { DispatcherConfig } from "./config.ts";
import { resealed } from "./secrets.ts";
import {
  type DestinationKey,
  listDestinationKeys,
  lockDestination,
  updateDestinationRow,
} from "./store/destinations.ts";

/**
 * Reseals every destination's secrets with the first key of PARLEY_ENCRYPTION_KEY, so that you can remove the others.
 * Safe while the service runs.
 */
export async function resealDestinations(config: DispatcherConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-webhook-reseal" });
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const reseal = (key: DestinationKey) =>
    db.begin(async (tx) => {
      const row = await lockDestination(tx, key);
      const secrets = resealed(sealer, row);
      if (!Bun.deepEquals({ ...row, ...secrets }, row)) await updateDestinationRow(tx, { ...row, ...secrets });
    });
  const keys = await listDestinationKeys(db);
  try {
    for (const key of keys) await reseal(key).catch(unlessGone);
  } finally {
    await db.end({ timeout: 5 });
  }
  log.info({ destinations: keys.length }, "every secret is sealed with the first encryption key");
}

function unlessGone(error: unknown): void {
  if (!(error instanceof ServiceError && error.kind === "not_found")) throw error;
}
