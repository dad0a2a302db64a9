import type { Sql } from "@parley/shared/db/database";

export interface IdempotencyClaim {
  ownerId: string;
  key: string;
  fingerprint: Uint8Array;
}

/**
 * Claims a key for a request in one statement, so that only one of two concurrent requests gets it.
 * @returns whether the key is this request's: claimed now, claimed before by the same request, or expired since
 *   `expiredAt`
 */
export async function claimKey(
  sql: Sql,
  { ownerId, key, fingerprint }: IdempotencyClaim,
  now: Date,
  expiredAt: Date,
): Promise<boolean> {
  const [claimed] = await sql`
    insert into idempotency_claims as claim (owner_id, idempotency_key, fingerprint, claimed_at)
    values (${ownerId}, ${key}, ${fingerprint}, ${now})
    on conflict (owner_id, idempotency_key) do update set
      fingerprint = excluded.fingerprint,
      claimed_at = case when claim.claimed_at <= ${expiredAt} then excluded.claimed_at else claim.claimed_at end
      where claim.fingerprint = excluded.fingerprint or claim.claimed_at <= ${expiredAt}
    returning 1`;
  return claimed !== undefined;
}

/** Deletes a few claims at a time, more than are added, so that no request pays for many. */
export async function deleteExpiredClaims(sql: Sql, expiredAt: Date): Promise<void> {
  await sql`
    delete from idempotency_claims
    where (owner_id, idempotency_key) in (
      select owner_id, idempotency_key from idempotency_claims
      where claimed_at <= ${expiredAt}
      order by claimed_at limit 10 for update skip locked
    )`;
}
