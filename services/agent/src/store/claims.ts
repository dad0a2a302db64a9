import type { Sql } from "@parley/shared/db/database";

export interface ClaimKey {
  ownerId: string;
  claim: string;
}

export interface HeldClaim extends ClaimKey {
  holder: string;
  /** Above those of all who held the claim before. */
  revision: number;
}

/** Takes a claim for so many milliseconds. Null while another holds it. */
export async function takeClaim(sql: Sql, { ownerId, claim }: ClaimKey, forMs: number): Promise<HeldClaim | null> {
  // The revision is drawn once the claim is taken, so that revisions grow from holder to holder.
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

/** Shows that the holder lives, unless another has taken the claim meanwhile. */
export async function extendClaim(sql: Sql, { ownerId, claim, holder }: HeldClaim, forMs: number): Promise<void> {
  await sql`
    update claims set held_until = clock_timestamp() + ${forMs} * interval '1 millisecond'
    where owner_id = ${ownerId} and claim = ${claim} and holder = ${holder}`;
}

/** Keeps a claim from being taken by others until the transaction ends. @returns whether it is still its holder's */
export async function keepClaim(tx: Sql, { ownerId, claim, holder }: HeldClaim): Promise<boolean> {
  const kept = await tx`
    select 1 from claims
    where owner_id = ${ownerId} and claim = ${claim} and holder = ${holder} and held_until >= clock_timestamp()
    for update`;
  return kept.length > 0;
}

/** Lets a claim go, unless another has taken it meanwhile. */
export async function releaseClaim(sql: Sql, { ownerId, claim, holder }: HeldClaim): Promise<void> {
  await sql`delete from claims where owner_id = ${ownerId} and claim = ${claim} and holder = ${holder}`;
}
