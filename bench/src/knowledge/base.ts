import { replaceChunks } from "@parley/knowledge/index-chunks";
import type { Chunk } from "@parley/knowledge/text";
import type { Database } from "@parley/shared/db/database";

export interface Base {
  ownerId: string;
  baseId: string;
}

/** Makes documents of chunks in a base, a hundred chunks in each. */
export async function fillBase(
  db: Database,
  { ownerId, baseId }: Base,
  language: string,
  chunks: readonly Chunk[],
): Promise<void> {
  for (let at = 0; at < chunks.length; at += DOCUMENT_CHUNKS) {
    const documentId = `doc_${baseId}_${at}`;
    await db.begin(async (tx) => {
      await replaceChunks(tx, { ownerId, baseId, documentId, language }, chunks.slice(at, at + DOCUMENT_CHUNKS));
      await tx`
        insert into documents (owner_id, document_id, base_id, name, status, language, created_at, updated_at)
        values (${ownerId}, ${documentId}, ${baseId}, ${documentId}, 'READY', ${language}, now(), now())`;
    });
  }
  await db`vacuum analyze`;
}

const DOCUMENT_CHUNKS = 100;
