import { DOCUMENT_STATUSES, nameOf } from "@parley/shared/domain/api-names";
import { pageOf } from "@parley/shared/page";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toDocument } from "../convert.ts";
import { requireBase } from "../read-rows.ts";
import { listDocumentRows } from "../store/documents.ts";

export function listDocuments({ db }: KnowledgeContext): Handler<"listDocuments"> {
  return async ({ ownerId, knowledgeBaseId, page, search, status }) => {
    const wanted = pageOf(page);
    const key = { ownerId, baseId: knowledgeBaseId };
    await requireBase(db, key);
    if (search.includes("\0")) return { documents: [], total: 0 };
    const filter = { ...key, search, status: nameOf(DOCUMENT_STATUSES, status) ?? null };
    const { rows, total } = await listDocumentRows(db, filter, wanted);
    return { documents: rows.map(toDocument), total };
  };
}
