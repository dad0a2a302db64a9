import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Handler, KnowledgeContext } from "../context.ts";
import { getDocumentRow } from "../read-rows.ts";
import { findChunk } from "../store/chunks.ts";

/** @throws ServiceError not_found also for a chunk of content that was replaced */
export function getChunk({ db }: KnowledgeContext): Handler<"getChunk"> {
  return async ({ ownerId, knowledgeBaseId, documentId, chunkId }) => {
    const key = { ownerId, baseId: knowledgeBaseId, documentId };
    const { name } = await getDocumentRow(db, key);
    const chunk = isId("chk", chunkId) ? await findChunk(db, key, chunkId) : null;
    if (!chunk) throw notFound("Chunk");
    return { documentName: name, ...chunk };
  };
}
