import { RefreshDocumentResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toDocument } from "../convert.ts";
import { enqueueRefresh } from "../ingest/refresh.ts";
import { getDocumentRow } from "../read-rows.ts";

export function refreshDocument(ctx: KnowledgeContext): Handler<"refreshDocument"> {
  return ({ ownerId, knowledgeBaseId, documentId, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: RefreshDocumentResponse, call }, async (tx) => {
      const key = { ownerId, baseId: knowledgeBaseId, documentId };
      await lockStoredBytes(tx, ownerId);
      const row = await getDocumentRow(tx, key);
      if (row.url === null)
        throw new ServiceError("condition", "The document has no url to fetch: replace its content instead");
      if (row.status !== "PENDING") await enqueueRefresh(tx, key, row.url, ctx.clock.now());
      return { document: toDocument(await getDocumentRow(tx, key)) };
    });
}
