import type { Sql } from "@parley/shared/db/database";

/** Null where the installation's default applies. */
interface CallPolicyRow {
  countries: string[] | null;
  callsPerDay: number | null;
  minutesPerDay: number | null;
}

export async function findCallPolicy(sql: Sql, ownerId: string): Promise<CallPolicyRow> {
  const [row] = await sql<CallPolicyRow[]>`
    select countries, calls_per_day, minutes_per_day from call_policies where owner_id = ${ownerId}`;
  return row ?? { countries: null, callsPerDay: null, minutesPerDay: null };
}

export async function storeCallPolicy(sql: Sql, ownerId: string, policy: CallPolicyRow): Promise<void> {
  await sql`
    insert into call_policies (owner_id, countries, calls_per_day, minutes_per_day)
    values (${ownerId}, ${policy.countries}, ${policy.callsPerDay}, ${policy.minutesPerDay})
    on conflict (owner_id) do update set countries = excluded.countries, calls_per_day = excluded.calls_per_day,
      minutes_per_day = excluded.minutes_per_day`;
}
