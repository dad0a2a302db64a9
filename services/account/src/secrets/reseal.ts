import { resealEach } from "@parley/shared/db/reseal";
import type { Logger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import type { AccountConfig } from "../config.ts";
import { listSecretKeys, lockSecret, updateSealedValue } from "../store/secrets.ts";
import { resealSecret } from "./sealed-secret.ts";

/** Reseals every secret. @throws when one cannot be opened */
export async function resealSecrets(config: AccountConfig, log: Logger): Promise<void> {
  const sealer = createSealer(config.PARLEY_ENCRYPTION_KEY);
  const secrets = await resealEach(config, "account", listSecretKeys, async (tx, key) => {
    const sealed = await lockSecret(tx, key);
    if (sealed) await updateSealedValue(tx, key, resealSecret(sealer, sealed));
  });
  log.info({ secrets }, "every secret is sealed with the first encryption key");
}
