import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { type BaseKey, type CountedBase, findBaseOwners, findBases, holdBase, listServedBases } from "./store/bases.ts";
import { type DocumentKey, type DocumentRow, findDocument } from "./store/documents.ts";

/** @throws ServiceError forbidden for another owner's base, not_found for none */
export async function getBase(sql: Sql, key: BaseKey): Promise<CountedBase> {
  const [row] = isId("kb", key.baseId) ? await findBases(sql, key.ownerId, [key.baseId]) : [];
  return row ?? (await refuseBase(sql, key));
}

/** Keeps a base from being deleted until the transaction ends. @throws ServiceError forbidden, not_found */
export async function requireHeldBase(tx: Sql, key: BaseKey): Promise<void> {
  if (!isId("kb", key.baseId) || !(await holdBase(tx, key))) await refuseBase(tx, key);
}

/** @throws ServiceError forbidden, not_found */
export async function requireBase(sql: Sql, key: BaseKey): Promise<void> {
  const { ownerId, baseId } = key;
  const [found] = isId("kb", baseId) ? await listServedBases(sql, ownerId, [baseId]) : [];
  if (found === undefined) await refuseBase(sql, key);
}

/** @throws ServiceError forbidden or not_found for its base, not_found for the document */
export async function getDocumentRow(sql: Sql, key: DocumentKey): Promise<DocumentRow> {
  const isPossible = isId("kb", key.baseId) && isId("doc", key.documentId);
  const row = isPossible ? await findDocument(sql, key) : null;
  if (row) return row;
  await requireBase(sql, key);
  throw notFound("Document");
}

async function refuseBase(sql: Sql, { baseId }: BaseKey): Promise<never> {
  const owners = isId("kb", baseId) ? await findBaseOwners(sql, [baseId]) : [];
  throw owners.length > 0
    ? new ServiceError("forbidden", "You do not have access to this knowledge base")
    : notFound("Knowledge base");
}
