import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { invalid } from "@parley/shared/errors";
import { mask, STARS } from "@parley/shared/sealing";
import type { SealedKey } from "../store/stored-keys.ts";
import type { KeyUse, ModelKeys } from "./model-keys.ts";

/** A configuration, if there was one, of the agent whose keys masks stand for. */
export interface Before<C> {
  of: AgentKey;
  config: C | null;
}

/** A key that the agent had before, and its use. */
interface KnownKey extends SealedKey {
  use: KeyUse;
}

/**
 * Prepares a key for storing. A mask stands for the key it was made from, as long as that key still goes to the same
 * base_url: otherwise someone who never knew the key could have it sent to another host.
 * @param known the agent's keys; of several with the same mask, the first one is meant
 * @param address the field with the address that the key goes to
 * @throws ServiceError invalid, naming `field`, for a mask that matches no key, or for a key that cannot be opened any
 * more
 */
export function sealKey(
  apiKey: string,
  use: KeyUse,
  known: readonly KnownKey[],
  keys: ModelKeys,
  field: string,
  address = "base_url",
): Required<SealedKey> {
  if (!apiKey.startsWith(STARS)) return { sealedApiKey: keys.seal(apiKey, use), apiKeyMask: mask(apiKey), keyPlace: 0 };
  const masked = known.filter(({ apiKeyMask }) => apiKeyMask === apiKey);
  const same = masked.find((key) => key.use.baseUrl === use.baseUrl);
  if (!same?.sealedApiKey) {
    throw invalid(
      field,
      masked.length > 0
        ? `${field} must be sent again in full because ${address} changes`
        : `${field} is a mask that matches no stored key. Send the key itself.`,
    );
  }
  const kept = openKey(same.sealedApiKey, same.use, keys);
  if (kept === null) throw invalid(field, `${field} must be sent again in full because the stored key cannot be read`);
  // A key that stays is no change of it.
  const sealedApiKey = Bun.deepEquals(same.use, use) ? same.sealedApiKey : keys.seal(kept, use);
  return { sealedApiKey, apiKeyMask: apiKey, keyPlace: 0 };
}

/** Null when the key cannot be opened. */
export function openKey(sealed: string, use: KeyUse, keys: ModelKeys): string | null {
  try {
    return keys.open(sealed, use);
  } catch {
    return null;
  }
}
