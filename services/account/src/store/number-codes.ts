import type { Sql } from "@parley/shared/db/database";

interface NumberCode {
  ownerId: string;
  mobileNumber: string;
  codeDigest: Buffer;
  expiresAt: Date;
}

/** How many calls have told codes since `since`: those for the owner, and those at the number. */
export async function countCodeCalls(
  sql: Sql,
  { ownerId, mobileNumber }: Pick<NumberCode, "ownerId" | "mobileNumber">,
  since: Date,
): Promise<{ ofOwner: number; atNumber: number }> {
  const [row] = await sql<{ ofOwner: number; atNumber: number }[]>`
    select
      (select coalesce(sum(calls), 0) from number_codes
       where owner_id = ${ownerId} and first_at > ${since})::integer as of_owner,
      (select coalesce(sum(calls), 0) from number_codes
       where mobile_number = ${mobileNumber} and first_at > ${since})::integer as at_number`;
  return row ?? { ofOwner: 0, atNumber: 0 };
}

/** Stores a code that is about to be told, in the place of an earlier one. */
export async function storeCode(sql: Sql, code: NumberCode, { now, since }: { now: Date; since: Date }): Promise<void> {
  await sql`
    insert into number_codes as known (owner_id, mobile_number, code_digest, calls, first_at, tries, expires_at)
    values (${code.ownerId}, ${code.mobileNumber}, ${code.codeDigest}, 1, ${now}, 0, ${code.expiresAt})
    on conflict (owner_id, mobile_number) do update
    set code_digest = excluded.code_digest, tries = 0, expires_at = excluded.expires_at,
      calls = case when known.first_at > ${since} then known.calls + 1 else 1 end,
      first_at = case when known.first_at > ${since} then known.first_at else excluded.first_at end`;
}

/** Counts a try. Null if there is no code, it has expired, or it was tried `triesMax` times. */
export async function tryCode(
  sql: Sql,
  { ownerId, mobileNumber }: Pick<NumberCode, "ownerId" | "mobileNumber">,
  { now, triesMax }: { now: Date; triesMax: number },
): Promise<Buffer | null> {
  const [row] = await sql<{ codeDigest: Buffer }[]>`
    update number_codes set tries = tries + 1
    where owner_id = ${ownerId} and mobile_number = ${mobileNumber} and expires_at > ${now} and tries < ${triesMax}
    returning code_digest`;
  return row?.codeDigest ?? null;
}

/** A code is good once; the calls that told codes still count. */
export async function expireCode(
  sql: Sql,
  { ownerId, mobileNumber }: Pick<NumberCode, "ownerId" | "mobileNumber">,
  now: Date,
): Promise<void> {
  await sql`
    update number_codes set expires_at = ${now} where owner_id = ${ownerId} and mobile_number = ${mobileNumber}`;
}
