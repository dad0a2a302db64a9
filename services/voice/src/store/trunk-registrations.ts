import type { Sql } from "@parley/shared/db/database";
import type { TrunkKey } from "./trunk-contacts.ts";

export interface NewRegistration {
  state: "REGISTERED" | "REFUSED" | "UNREACHABLE";
  /** Null if the trunk is not registered with. */
  expiresAt: Date | null;
  sipStatus: number | null;
  reason: string | null;
}

export interface RegistrationRow extends NewRegistration {
  carrierId: string;
  since: Date;
}

/** `since` stays while the trunk answers the same, unless a registration has expired in the meantime. */
export async function storeTrunkRegistration(
  sql: Sql,
  { ownerId, carrierId }: TrunkKey,
  { state, expiresAt, sipStatus, reason }: NewRegistration,
  now: Date,
): Promise<void> {
  await sql`
    insert into trunk_registrations (owner_id, carrier_id, state, since, expires_at, sip_status, reason)
    values (${ownerId}, ${carrierId}, ${state}, ${now}, ${expiresAt}, ${sipStatus}, ${reason})
    on conflict (owner_id, carrier_id) do update
    set state = excluded.state, expires_at = excluded.expires_at, sip_status = excluded.sip_status, reason = excluded.reason,
      since = case
        when trunk_registrations.state = excluded.state
          and trunk_registrations.sip_status is not distinct from excluded.sip_status
          and coalesce(trunk_registrations.expires_at >= excluded.since, true)
        then trunk_registrations.since else excluded.since end`;
}

export async function deleteTrunkRegistration(sql: Sql, { ownerId, carrierId }: TrunkKey): Promise<void> {
  await sql`delete from trunk_registrations where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
}

/** Trunks of all owners that are not registered at a time, and have been since another. A trunk has one row. */
export async function countUnregistered(sql: Sql, now: Date, since: Date): Promise<number> {
  const [row] = await sql<{ trunks: number }[]>`
    select count(*)::int as trunks from trunk_registrations
    where (state <> 'REGISTERED' and since > ${since}) or (state = 'REGISTERED' and expires_at between ${since} and ${now})`;
  return row?.trunks ?? 0;
}

/** An owner has few trunks, because the account service bounds its carriers. */
export async function listTrunkRegistrations(sql: Sql, ownerId: string): Promise<RegistrationRow[]> {
  return sql<RegistrationRow[]>`
    select carrier_id, state, since, expires_at, sip_status, reason from trunk_registrations
    where owner_id = ${ownerId} order by carrier_id`;
}
