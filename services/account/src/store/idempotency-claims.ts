import type { Sql } from "@parley/shared/db/database";
import type { IdempotencyKey, KeyTable } from "@parley/shared/idempotency/keys";

/** The request that each key belongs to, whatever its outcome. */
export const IDEMPOTENCY_CLAIMS: KeyTable = {
  name: "idempotency_claims",
  takenAt: "claimed_at",
  clear: (sql) => sql``,
};

/** The fingerprint of the request that a key was taken for; null when it is free or older than `expiredAt`. */
export async function findClaim(sql: Sql, { ownerId, key }: IdempotencyKey, expiredAt: Date): Promise<Buffer | null> {
  const [claim] = await sql<{ fingerprint: Buffer }[]>`
    select fingerprint from idempotency_claims
    where owner_id = ${ownerId} and idempotency_key = ${key} and claimed_at > ${expiredAt}`;
  return claim?.fingerprint ?? null;
}
