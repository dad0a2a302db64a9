import type { Handler, KnowledgeContext } from "../context.ts";
import { toDocument } from "../convert.ts";
import { getDocumentRow } from "../read-rows.ts";

export function getDocument({ db }: KnowledgeContext): Handler<"getDocument"> {
  return async ({ ownerId, knowledgeBaseId, documentId }) => ({
    document: toDocument(await getDocumentRow(db, { ownerId, baseId: knowledgeBaseId, documentId })),
  });
}
