import type { Sql } from "@parley/shared/db/database";

/**
 * Channel with the id of every key whose grant changed. Channels are per database and each installation has its own, so
 * the name needs no schema.
 */
export const KEY_CHANGES = "parley_account_keys";

/** Notifies every process of changed keys when the transaction commits. */
export async function notifyKeyChanges(tx: Sql, keyIds: readonly string[]): Promise<void> {
  await tx`select pg_notify(${KEY_CHANGES}, key_id) from unnest(${keyIds}::text[]) as changed (key_id)`;
}

/** The same for all keys of an owner. */
export async function notifyOwnerKeyChanges(tx: Sql, ownerId: string): Promise<void> {
  const rows = await tx<{ keyId: string }[]>`select key_id from api_keys where owner_id = ${ownerId}`;
  // Apart from that query, which a distributed table would run on a node where nobody listens.
  await notifyKeyChanges(
    tx,
    rows.map((row) => row.keyId),
  );
}
