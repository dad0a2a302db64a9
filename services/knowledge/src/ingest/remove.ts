import type { Database, Sql } from "@parley/shared/db/database";
import { deleteParts } from "@parley/shared/jobs/forget-owner";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { deleteChunks, forgetBase } from "../search/index-chunks.ts";
import type { BaseKey } from "../store/bases.ts";
import { deleteContent } from "../store/contents.ts";
import { type DocumentKey, deleteDocumentRow, listSomeDocuments } from "../store/documents.ts";
import { deleteText } from "../store/texts.ts";

const QUEUE = "remove";
const DOCUMENTS_AT_ONCE = 100;

/** What is left of a base, or of one document. */
interface Removed {
  baseId: string;
  document?: { documentId: string; textId: string | null };
}

/** Enqueues, in the transaction that deletes a base or a document, the deletion of what is left of it. */
export async function enqueueRemoval(
  tx: Sql,
  { ownerId, baseId, documentId, textId = null }: BaseKey & { documentId?: string; textId?: string | null },
  now: Date,
): Promise<void> {
  const payload: Removed = { baseId, ...(documentId !== undefined && { document: { documentId, textId } }) };
  await enqueueJob(tx, { ownerId, jobId: `${QUEUE}:${documentId ?? baseId}`, queue: QUEUE, payload, dueAt: now });
}

export function removals(db: Database): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      perOwner: 1,
      run: async ({ ownerId, payload }, lease) => {
        const { baseId, document } = payload as Removed;
        if (document) await removeRest(db, { ownerId, baseId, ...document }, lease);
        else await removeBase(db, { ownerId, baseId }, lease);
      },
    },
  };
}

async function removeBase(db: Database, base: BaseKey, lease: AbortSignal): Promise<void> {
  for (;;) {
    const documents = await listSomeDocuments(db, base, DOCUMENTS_AT_ONCE);
    if (documents.length === 0) break;
    for (const document of documents) {
      const key = { ...base, ...document };
      await removeRest(db, key, lease);
      await db.begin(async (tx) => {
        await lockStoredBytes(tx, base.ownerId);
        await deleteContent(tx, key);
        await deleteDocumentRow(tx, key);
      });
    }
  }
  await deleteParts(lease, () => forgetBase(db, base));
}

async function removeRest(
  db: Database,
  { textId, ...key }: DocumentKey & { textId: string | null },
  lease: AbortSignal,
): Promise<void> {
  await deleteParts(lease, () => db.begin((tx) => deleteChunks(tx, key)));
  if (textId !== null) await deleteText(db, { ownerId: key.ownerId, textId });
}
