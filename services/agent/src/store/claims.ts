import type { Sql } from "@parley/shared/db/database";

export interface ClaimKey {
  ownerId: string;
  claim: string;
}

export interface HeldClaim extends ClaimKey {
  holder: string;
  /** Higher than the revisions of all earlier holders of the claim. */
  revision: number;
}

/** Takes a claim for this many milliseconds. Returns null while another process holds it. */
export async function takeClaim(sql: Sql, { ownerId, claim }: ClaimKey, forMs: number): Promise<HeldClaim | null> {
  // Draws the revision after the claim is taken, so that revisions increase from holder to holder.
  const [taken] = await sql<{ holder: string; revision: number }[]>`
    with taken as (
      insert into claims (owner_id, claim, holder, held_until)
      values (${ownerId}, ${claim}, gen_random_uuid(), clock_timestamp() + ${forMs} * interval '1 millisecond')
      on conflict (owner_id, claim) do update set holder = excluded.holder, held_until = excluded.held_until
        where claims.held_until < clock_timestamp()
      returning holder
    )
    select holder, nextval('reference_revisions') as revision from taken`;
  return taken ? { ownerId, claim, ...taken } : null;
}

/** Extends a claim unless another process has taken it. */
export async function extendClaim(sql: Sql, { ownerId, claim, holder }: HeldClaim, forMs: number): Promise<void> {
  await sql`
    update claims set held_until = clock_timestamp() + ${forMs} * interval '1 millisecond'
    where owner_id = ${ownerId} and claim = ${claim} and holder = ${holder}`;
}

/**
 * Locks a claim until the transaction ends, so that nobody else can take it. @returns whether the holder still has it
 */
export async function keepClaim(tx: Sql, { ownerId, claim, holder }: HeldClaim): Promise<boolean> {
  const kept = await tx`
    select 1 from claims
    where owner_id = ${ownerId} and claim = ${claim} and holder = ${holder} and held_until >= clock_timestamp()
    for update`;
  return kept.length > 0;
}

/** Releases a claim unless another process has taken it. */
export async function releaseClaim(sql: Sql, { ownerId, claim, holder }: HeldClaim): Promise<void> {
  await sql`delete from claims where owner_id = ${ownerId} and claim = ${claim} and holder = ${holder}`;
}
