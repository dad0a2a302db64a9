import type { Sql } from "@parley/shared/db/database";
import { DEFAULT_EVENTS } from "@parley/shared/portable/events";

/** Gives an owner's wants their next revision, in the transaction that changes them. */
export async function reviseWanted(tx: Sql, ownerId: string): Promise<void> {
  await tx`
    insert into wanted_revisions (owner_id, revision) values (${ownerId}, 1)
    on conflict (owner_id) do update set revision = wanted_revisions.revision + 1`;
}

interface WantedRow {
  /** Beyond the ends of conversations. */
  events: string[];
  revision: number;
}

/** What an owner's enabled destinations want; null when it was never more than the ends of conversations, or the owner is gone. */
export async function findWanted(sql: Sql, ownerId: string): Promise<WantedRow | null> {
  const [row] = await sql<WantedRow[]>`
    select revision, coalesce((
      select array_agg(distinct event) from destinations cross join unnest(events) as event
      where owner_id = ${ownerId} and enabled and event <> all(${[...DEFAULT_EVENTS]})
    ), '{}') as events
    from wanted_revisions where owner_id = ${ownerId}`;
  return row ?? null;
}
