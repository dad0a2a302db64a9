import { DeleteDocumentResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { enqueueRemoval } from "../ingest/remove.ts";
import { getDocumentRow } from "../read-rows.ts";
import { deleteContent } from "../store/contents.ts";
import { deleteDocumentRow } from "../store/documents.ts";

/** The document is gone at once, for searches too, and its ingestion ends; its text and chunks are deleted by a job. */
export function deleteDocument(ctx: KnowledgeContext): Handler<"deleteDocument"> {
  return ({ ownerId, knowledgeBaseId, documentId, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: DeleteDocumentResponse, call }, async (tx) => {
      const key = { ownerId, baseId: knowledgeBaseId, documentId };
      await lockStoredBytes(tx, ownerId);
      const { name, textId } = await getDocumentRow(tx, key);
      await deleteContent(tx, key);
      await deleteDocumentRow(tx, key);
      const now = ctx.clock.now();
      await enqueueRemoval(tx, { ...key, textId }, now);
      return { name, deletedAt: now };
    });
}
