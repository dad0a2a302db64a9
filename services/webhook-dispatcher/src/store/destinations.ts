import type { Sql } from "@parley/shared/db/database";
import type { REQUEST_TYPES, RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { EventName } from "@parley/shared/portable/events";
import type { SigningSecrets } from "@parley/shared/signing-secrets";

export type RequestTypeName = keyof typeof REQUEST_TYPES;
export type RetryScheduleName = keyof typeof RETRY_SCHEDULES;

export interface DestinationKey {
  ownerId: string;
  destinationId: string;
}

/** A destination as far as its new deliveries need it. */
export type ScheduledDestination = Pick<DestinationRow, "ownerId" | "destinationId" | "retrySchedule" | "events">;

export interface DestinationRow extends DestinationKey, SigningSecrets {
  name: string;
  url: string;
  requestType: RequestTypeName;
  retrySchedule: RetryScheduleName;
  enabled: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** Which it gets. */
  events: EventName[];
}

/** Serializes an owner's additions until the end of the transaction. */
export async function lockDestinations(tx: Sql, ownerId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.destinations.' || ${ownerId}, 0))`;
}

export async function countDestinations(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from destinations where owner_id = ${ownerId}`;
  return row?.total ?? 0;
}

export async function insertDestination(sql: Sql, row: DestinationRow): Promise<void> {
  await sql`
    insert into destinations
      (owner_id, destination_id, name, url, request_type, retry_schedule, enabled, sealed_secret, created_at, updated_at,
        events)
    values
      (${row.ownerId}, ${row.destinationId}, ${row.name}, ${row.url}, ${row.requestType}, ${row.retrySchedule},
       ${row.enabled}, ${row.sealedSecret}, ${row.createdAt}, ${row.updatedAt}, ${row.events})`;
}

/** All of an owner's destinations, oldest first: there are few. */
export async function listDestinationRows(sql: Sql, ownerId: string): Promise<DestinationRow[]> {
  return sql<DestinationRow[]>`
    select owner_id, destination_id, name, url, request_type, retry_schedule, enabled, sealed_secret, old_secrets,
      created_at, updated_at, events
    from destinations where owner_id = ${ownerId} order by destination_id`;
}

/** The enabled destinations of several owners, without their secrets. */
export async function listEnabled(sql: Sql, ownerIds: readonly string[]): Promise<ScheduledDestination[]> {
  return sql<ScheduledDestination[]>`
    select owner_id, destination_id, retry_schedule, events from destinations
    where owner_id = any(${ownerIds as string[]}::text[]) and enabled`;
}

/** The destinations of all owners. */
export async function listDestinationKeys(sql: Sql): Promise<DestinationKey[]> {
  return sql<DestinationKey[]>`select owner_id, destination_id from destinations`;
}

/** The destinations that exist among the keys. */
export async function findDestinations(sql: Sql, keys: readonly DestinationKey[]): Promise<DestinationRow[]> {
  return sql<DestinationRow[]>`
    select owner_id, destination_id, name, url, request_type, retry_schedule, enabled, sealed_secret, old_secrets,
      created_at, updated_at, events
    from destinations
    join unnest(
      ${keys.map((key) => key.ownerId)}::text[],
      ${keys.map((key) => key.destinationId)}::text[]
    ) as wanted (owner_id, destination_id) using (owner_id, destination_id)`;
}

/** Returns the destination and locks it until the end of the transaction. @throws ServiceError not_found */
export async function lockDestination(tx: Sql, { ownerId, destinationId }: DestinationKey): Promise<DestinationRow> {
  const [row] = isId("whd", destinationId)
    ? await tx<DestinationRow[]>`
        select owner_id, destination_id, name, url, request_type, retry_schedule, enabled, sealed_secret, old_secrets,
          created_at, updated_at, events
        from destinations where owner_id = ${ownerId} and destination_id = ${destinationId} for update`
    : [];
  if (!row) throw notFound("Destination");
  return row;
}

export async function updateDestinationRow(sql: Sql, row: DestinationRow): Promise<void> {
  await sql`
    update destinations
    set name = ${row.name}, url = ${row.url}, request_type = ${row.requestType},
      retry_schedule = ${row.retrySchedule}, enabled = ${row.enabled},
      sealed_secret = ${row.sealedSecret}, old_secrets = ${sql.json(row.oldSecrets as never)},
      updated_at = ${row.updatedAt}, events = ${row.events}
    where owner_id = ${row.ownerId} and destination_id = ${row.destinationId}`;
}

export async function deleteDestinationRow(sql: Sql, { ownerId, destinationId }: DestinationKey): Promise<void> {
  await sql`delete from destinations where owner_id = ${ownerId} and destination_id = ${destinationId}`;
}

/** Deletes all of an owner's destinations, with their secrets and what they want. @returns the keys of those that there were */
export async function deleteDestinationsOf(sql: Sql, ownerId: string): Promise<DestinationKey[]> {
  await sql`delete from wanted_revisions where owner_id = ${ownerId}`;
  return sql<DestinationKey[]>`
    delete from destinations where owner_id = ${ownerId} returning owner_id, destination_id`;
}
