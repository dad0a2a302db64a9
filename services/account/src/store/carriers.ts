import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import type { Sql } from "@parley/shared/db/database";
import type { CarrierProvider } from "@parley/shared/domain/carriers";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";

/** The queue of the jobs that tell services of a deleted owner. */
export const TELL_DELETION = "tell-deletion";

interface CarrierKey {
  ownerId: string;
  carrierId: string;
}

/** Settings as stored: masks instead of secrets, and the sealed secrets by field. */
export interface SealedSettings {
  settings: CarrierSettings;
  sealed: Readonly<Record<string, string>>;
}

export interface CarrierRow extends CarrierKey, SealedSettings {
  provider: CarrierProvider;
  account: string;
  createdAt: Date;
}

const columns = (sql: Sql) => sql`owner_id, carrier_id, provider, account, settings, sealed, created_at`;

export async function insertCarrier(sql: Sql, row: CarrierRow): Promise<void> {
  await sql`
    insert into carriers (owner_id, carrier_id, provider, account, settings, sealed, created_at)
    values (${row.ownerId}, ${row.carrierId}, ${row.provider}, ${row.account}, ${sql.json(row.settings as never)},
      ${sql.json(row.sealed)}, ${row.createdAt})`;
}

/** Also applies to one that is being disconnected, which is then connected again. */
export async function replaceCredentials(sql: Sql, row: CarrierRow): Promise<void> {
  await sql`
    update carriers set settings = ${sql.json(row.settings as never)}, sealed = ${sql.json(row.sealed)}, disconnected_at = null
    where owner_id = ${row.ownerId} and carrier_id = ${row.carrierId}`;
}

export async function updateSealed(
  sql: Sql,
  { ownerId, carrierId }: CarrierKey,
  sealed: CarrierRow["sealed"],
): Promise<void> {
  await sql`update carriers set sealed = ${sql.json(sealed)} where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
}

/** Also finds one that is being disconnected. */
export async function findByAccount(
  sql: Sql,
  wanted: Pick<CarrierRow, "ownerId" | "provider" | "account">,
): Promise<(CarrierRow & { disconnectedAt: Date | null }) | null> {
  const [row] = await sql<(CarrierRow & { disconnectedAt: Date | null })[]>`
    select ${columns(sql)}, disconnected_at from carriers
    where owner_id = ${wanted.ownerId} and provider = ${wanted.provider} and account = ${wanted.account}`;
  return row ?? null;
}

/** @throws ServiceError not_found, also for a carrier of a deleted owner or one that is being disconnected */
export async function getCarrier(sql: Sql, { ownerId, carrierId }: CarrierKey): Promise<CarrierRow> {
  const [row] = isId("car", carrierId)
    ? await sql<CarrierRow[]>`
        select ${columns(sql)} from carriers
        where owner_id = ${ownerId} and carrier_id = ${carrierId} and disconnected_at is null`
    : [];
  if (!row) throw notFound("Carrier");
  return row;
}

/** Returns the carrier, even one that is being disconnected, and locks it until the transaction ends; null if there is none. */
export async function lockCarrier(tx: Sql, { ownerId, carrierId }: CarrierKey): Promise<CarrierRow | null> {
  const [row] = await tx<CarrierRow[]>`
    select ${columns(tx)} from carriers where owner_id = ${ownerId} and carrier_id = ${carrierId} for update`;
  return row ?? null;
}

/** Also finds one that is being disconnected, whose numbers are restored or whose calls are hung up. */
export async function findEvenDisconnected(sql: Sql, { ownerId, carrierId }: CarrierKey): Promise<CarrierRow | null> {
  const [row] = await sql<CarrierRow[]>`
    select ${columns(sql)} from carriers where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
  return row ?? null;
}

/** The owner of a carrier. */
export async function findCarrierOwner(
  sql: Sql,
  carrierId: string,
): Promise<Pick<CarrierRow, "ownerId" | "carrierId" | "provider" | "createdAt"> | null> {
  const [row] = await sql<CarrierRow[]>`
    select owner_id, carrier_id, provider, created_at from carriers
    where carrier_id = ${carrierId} and disconnected_at is null`;
  return row ?? null;
}

/** The SIP trunk that a number was imported from, and whether its address proves whose call it is. */
export async function findTrunkOfNumber(
  sql: Sql,
  mobileNumber: string,
): Promise<(CarrierRow & { needsDigest: boolean }) | null> {
  const [row] = await sql<(CarrierRow & { needsDigest: boolean })[]>`
    select ${columns(sql)}, shares_address and proven_by is null as needs_digest
    from carriers join (
      select owner_id, carrier_id, proven_by from mobile_numbers join owners using (owner_id)
      where mobile_number = ${mobileNumber} and replaced_at is null and deleted_at is null
    ) as number using (owner_id, carrier_id)
    where provider = 'SIP' and disconnected_at is null`;
  return row ?? null;
}

/** The settings of other owners' SIP trunks. Until the end of the transaction, no trunk is connected. */
export async function lockTrunksOfOthers(tx: Sql, ownerId: string): Promise<CarrierRow["settings"][]> {
  await tx`select pg_advisory_xact_lock(hashtextextended('account.trunks', 0))`;
  const rows = await tx<Pick<CarrierRow, "settings">[]>`
    select settings from carriers where provider = 'SIP' and disconnected_at is null and owner_id <> ${ownerId}`;
  return rows.map(({ settings }) => settings);
}

export async function storeSharesAddress(
  sql: Sql,
  { ownerId, carrierId }: CarrierKey,
  sharesAddress: boolean,
): Promise<void> {
  await sql`
    update carriers set shares_address = ${sharesAddress} where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
}

/** SIP trunks of all owners that want a registration: they have credentials, and no addresses that calls come from. */
export async function listRegistrars(
  sql: Sql,
  afterCarrierId: string,
  limit: number,
): Promise<Pick<CarrierRow, "ownerId" | "carrierId" | "provider" | "createdAt">[]> {
  return sql<CarrierRow[]>`
    select owner_id, carrier_id, provider, created_at from carriers
    where provider = 'SIP' and disconnected_at is null and carrier_id > ${afterCarrierId}
      and settings->>'username' <> '' and sealed ? 'password'
      and coalesce(jsonb_array_length(settings->'allowedAddresses'), 0) = 0
    order by carrier_id limit ${limit}`;
}

/** Oldest first. */
export async function listCarriers(sql: Sql, ownerId: string): Promise<CarrierRow[]> {
  return sql<CarrierRow[]>`
    select ${columns(sql)} from carriers
    where owner_id = ${ownerId} and disconnected_at is null order by created_at, carrier_id`;
}

/** The carriers of all owners, for maintenance. */
export async function listCarrierKeys(sql: Sql): Promise<CarrierKey[]> {
  return sql<CarrierKey[]>`select owner_id, carrier_id from carriers`;
}

export async function countCarriers(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from carriers where owner_id = ${ownerId}`;
  return row?.total ?? 0;
}

export async function markDisconnected(sql: Sql, { ownerId, carrierId }: CarrierKey, now: Date): Promise<void> {
  await sql`
    update carriers set disconnected_at = ${now} where owner_id = ${ownerId} and carrier_id = ${carrierId}`;
}

/** All carriers of an owner. */
export async function markAllDisconnected(sql: Sql, ownerId: string, now: Date): Promise<void> {
  await sql`update carriers set disconnected_at = ${now} where owner_id = ${ownerId}`;
}

/** Deletes the owner's disconnected carriers that no number waits for, unless the owner is deleted and its calls may not have ended. */
export async function deleteUnneededCarriers(sql: Sql, ownerId: string): Promise<void> {
  await sql`
    delete from carriers where owner_id = ${ownerId} and disconnected_at is not null and not exists (
      select from number_restores as waiting
      where waiting.owner_id = carriers.owner_id and waiting.carrier_id = carriers.carrier_id)
    and not exists (${endingCalls(sql, ownerId)})`;
}

/** Whether a deleted owner's carriers are kept until its calls have been hung up. */
export async function areKeptForCalls(sql: Sql, ownerId: string): Promise<boolean> {
  const rows = await sql`
    select from carriers where owner_id = ${ownerId} and exists (${endingCalls(sql, ownerId)}) limit 1`;
  return rows.length > 0;
}

/** The jobs that have the voice service end a deleted owner's calls. */
const endingCalls = (sql: Sql, ownerId: string) => sql`
  select from jobs where owner_id = ${ownerId} and queue = ${TELL_DELETION} and payload ->> 'service' = 'voice'`;
