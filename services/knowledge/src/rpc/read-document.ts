import type { ReadDocumentResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { byteShares } from "@parley/shared/shares/byte-shares";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toDocument } from "../convert.ts";
import { getDocumentRow } from "../read-rows.ts";
import { findPart } from "../store/texts.ts";

/** The most reads of one owner at a time. Each holds a part of a text. */
const READS_MAX = 16;

/**
 * Reads a document's text as fast as the caller takes it.
 * @throws ServiceError unavailable when another text replaces it in the meantime, rate_limited
 */
export function readDocument({ db }: KnowledgeContext): Handler<"readDocument"> {
  const reads = byteShares({
    what: "documents",
    totalBytes: Number.POSITIVE_INFINITY,
    ownerBytes: READS_MAX,
    waitingMax: 0,
  });
  return async function* ({ ownerId, knowledgeBaseId, documentId }): AsyncGenerator<ReadDocumentResponse> {
    const hold = await reads.hold(ownerId, 1);
    try {
      const row = await getDocumentRow(db, { ownerId, baseId: knowledgeBaseId, documentId });
      yield { event: { $case: "document", value: toDocument(row) } };
      if (row.textId === null) return;
      let left = row.characters;
      for (let part = 0; left > 0; part++) {
        const text = await findPart(db, { ownerId, textId: row.textId }, part);
        if (text === null) throw new ServiceError("unavailable", "The document was changed. Try again.");
        yield { event: { $case: "text", value: text.text } };
        left -= text.characters;
      }
    } finally {
      hold.release();
    }
  };
}
