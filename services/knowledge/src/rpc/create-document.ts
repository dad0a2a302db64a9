import { CreateDocumentResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toDocument } from "../convert.ts";
import { orForget } from "../ingest/forget-refused.ts";
import { enqueueContent, type Given, readContent } from "../ingest/take-content.ts";
import { getDocumentRow, requireHeldBase } from "../read-rows.ts";
import { checkDocument, nameOfPage } from "../rules.ts";
import { deleteContentParts } from "../store/contents.ts";
import { countDocuments, type DocumentRow, findSameContent, insertDocument, setPending } from "../store/documents.ts";

/** The answer does not wait for the document's text. */
export function createDocument(ctx: KnowledgeContext): Handler<"createDocument"> {
  return ({ ownerId, knowledgeBaseId, name, content, language, idempotency }, call) => {
    const created = runIdempotent(ctx, { ownerId, idempotency, codec: CreateDocumentResponse, call }, async (tx) => {
      checkDocument({ name, language });
      const given = readContent(content, ctx.allowedHosts);
      const base = { ownerId, baseId: knowledgeBaseId };
      const called = name ?? nameOf(given);
      return withinRoom(tx, ownerId, ctx.room, async () => {
        await requireHeldBase(tx, base);
        const same = await findSameContent(tx, base, given);
        if (same) return { document: toDocument(await keepFirst(tx, ctx, same, given)), duplicate: true };
        if ((await countDocuments(tx, ownerId, ctx.documentsMax)) >= ctx.documentsMax) throw tooMany(ctx.documentsMax);
        const key = { ...base, documentId: newId("doc") };
        const now = ctx.clock.now();
        const { url, refreshHours } = given;
        const sha256 = given.url === null ? given.sha256 : null;
        const row = { ...key, name: called, givenLanguage: language ?? null, sha256, url, refreshHours, now };
        await insertDocument(tx, row);
        await enqueueContent(tx, key, given, now);
        return { document: toDocument(await getDocumentRow(tx, key)), duplicate: false };
      });
    });
    return orForget(ctx.db, { ownerId, content }, call, created);
  };
}

/** @throws ServiceError invalid for what is no page */
function nameOf({ url }: Given): string {
  if (url === null) throw invalid("name", "name is required");
  return nameOfPage(url);
}

/** The first document of the same content stays as it is; one that failed is tried again. */
async function keepFirst(tx: Sql, ctx: KnowledgeContext, same: DocumentRow, given: Given): Promise<DocumentRow> {
  if (same.status !== "FAILED") {
    if (given.url === null) await deleteContentParts(tx, same.ownerId, given.contentId);
    return same;
  }
  const now = ctx.clock.now();
  await setPending(tx, same, now);
  await enqueueContent(tx, same, given, now);
  return getDocumentRow(tx, same);
}

function tooMany(max: number): ServiceError {
  const count = max.toLocaleString("en-US");
  return new ServiceError("conflict", `There are ${count} documents already: delete documents that you no longer need`);
}
