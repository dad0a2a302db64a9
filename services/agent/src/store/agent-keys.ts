import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Fragment, Sql } from "@parley/shared/db/database";
import { type FieldsWithKeys, type KeyAddress, type SealedKey, withEachKey } from "./stored-keys.ts";

/** A key as stored: what it is for, its sealed text, its mask. */
export interface KeyRow {
  keyUse: string;
  sealedKey: string;
  keyMask: string;
}

/** The keys of the row `agents` of a statement, for `withKeys`. */
export const keysColumn = (sql: Sql): Fragment => sql`(
  select json_agg(json_build_object('keyUse', key_use, 'sealedKey', sealed_key, 'keyMask', key_mask))
  from agent_keys where agent_keys.owner_id = agents.owner_id and agent_keys.agent_id = agents.agent_id
) as keys`;

/** The fields with the agent's current keys. One whose key is missing has a text that cannot be opened. */
export function withKeys<T extends FieldsWithKeys>(fields: T, keys: readonly KeyRow[] | null): T {
  const byUse = new Map(keys?.map((row) => [row.keyUse, row]));
  const filled = withEachKey(fields, ({ keyPlace = 0 }, address) => {
    const row = byUse.get(useText(address, keyPlace));
    return { sealedApiKey: row?.sealedKey ?? "", apiKeyMask: row?.keyMask ?? "", keyPlace };
  });
  return { ...fields, ...filled };
}

/** The fields without their keys' texts and masks. */
export function withoutKeys(fields: FieldsWithKeys): FieldsWithKeys {
  return withEachKey(fields, ({ keyPlace = 0 }) => ({ keyPlace }));
}

export function keysOf(fields: FieldsWithKeys): KeyRow[] {
  const rows = new Map<string, KeyRow>();
  withEachKey(fields, (key, address) => {
    const { sealedApiKey: sealedKey = "", apiKeyMask: keyMask = "", keyPlace = 0 } = key;
    const keyUse = useText(address, keyPlace);
    if (sealedKey !== "" && !rows.has(keyUse)) rows.set(keyUse, { keyUse, sealedKey, keyMask });
    return key;
  });
  return [...rows.values()];
}

/** Stores an agent's keys beside those that only its earlier versions have. @returns whether one of them changed */
export async function storeKeys(tx: Sql, { ownerId, agentId }: AgentKey, keys: readonly KeyRow[]): Promise<boolean> {
  if (keys.length === 0) return false;
  const { count } = await tx`
    insert into agent_keys (owner_id, agent_id, key_use, sealed_key, key_mask)
    select ${ownerId}, ${agentId}, * from unnest(
      ${keys.map(({ keyUse }) => keyUse)}::text[],
      ${keys.map(({ sealedKey }) => sealedKey)}::text[],
      ${keys.map(({ keyMask }) => keyMask)}::text[]
    )
    on conflict (owner_id, agent_id, key_use) do update set sealed_key = excluded.sealed_key, key_mask = excluded.key_mask
      where agent_keys.sealed_key <> excluded.sealed_key`;
  return count > 0;
}

interface StoredKey extends AgentKey, KeyRow {}

/** The keys of all agents of all owners, for maintenance. */
export async function listKeys(sql: Sql): Promise<Omit<StoredKey, "sealedKey" | "keyMask">[]> {
  return sql`select owner_id, agent_id, key_use from agent_keys`;
}

/** Locked until the transaction ends; null when it is gone. */
export async function lockKey(
  tx: Sql,
  { ownerId, agentId, keyUse }: Pick<StoredKey, "ownerId" | "agentId" | "keyUse">,
): Promise<string | null> {
  const [row] = await tx<{ sealedKey: string }[]>`
    select sealed_key from agent_keys
    where owner_id = ${ownerId} and agent_id = ${agentId} and key_use = ${keyUse} for update`;
  return row?.sealedKey ?? null;
}

export async function updateKey(
  tx: Sql,
  { ownerId, agentId, keyUse, sealedKey }: Omit<StoredKey, "keyMask">,
): Promise<void> {
  await tx`
    update agent_keys set sealed_key = ${sealedKey}
    where owner_id = ${ownerId} and agent_id = ${agentId} and key_use = ${keyUse}`;
}

export async function deleteKeys(tx: Sql, { ownerId, agentId }: AgentKey): Promise<void> {
  await tx`delete from agent_keys where owner_id = ${ownerId} and agent_id = ${agentId}`;
}

/** The address in the use of a stored key. */
export function addressIn(keyUse: string): KeyAddress {
  const [providerName, baseUrl] = JSON.parse(keyUse) as [string, string | null, number];
  return { providerName, baseUrl: baseUrl ?? undefined };
}

function useText({ providerName, baseUrl }: KeyAddress, keyPlace: SealedKey["keyPlace"]): string {
  return JSON.stringify([providerName, baseUrl ?? null, keyPlace]);
}
