import type { Sql } from "@parley/shared/db/database";
import type { AccountContext } from "../context.ts";
import { type KeyRow, lockKey } from "../store/api-keys.ts";
import { notifyKeyChanges } from "../store/key-changes.ts";
import { getOwner } from "../store/owners.ts";

/**
 * Changes a key and notifies every process, in one transaction.
 * @returns the key before the change
 * @throws ServiceError not_found for an unknown owner or key, or another owner's key
 */
export async function changeKey(
  { db }: AccountContext,
  { ownerId, keyId }: { ownerId: string; keyId: string },
  change: (tx: Sql, key: KeyRow) => Promise<void>,
): Promise<KeyRow> {
  return db.begin(async (tx) => {
    await getOwner(tx, ownerId);
    const key = await lockKey(tx, ownerId, keyId);
    await change(tx, key);
    await notifyKeyChanges(tx, [keyId]);
    return key;
  });
}
