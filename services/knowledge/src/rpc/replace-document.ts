import { ReplaceDocumentResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toDocument } from "../convert.ts";
import { orForget } from "../ingest/forget-refused.ts";
import { enqueueContent, type Given, readContent } from "../ingest/take-content.ts";
import { getDocumentRow, requireHeldBase } from "../read-rows.ts";
import { checkDocument } from "../rules.ts";
import { deleteContentParts } from "../store/contents.ts";
import { type DocumentRow, findSameContent, setReplacement } from "../store/documents.ts";

/** The text that the document has serves until the new one is ready. */
export function replaceDocument(ctx: KnowledgeContext): Handler<"replaceDocument"> {
  return ({ ownerId, knowledgeBaseId, documentId, name, content, language, idempotency }, call) => {
    const replaced = runIdempotent(ctx, { ownerId, idempotency, codec: ReplaceDocumentResponse, call }, async (tx) => {
      checkDocument({ name, language });
      const key = { ownerId, baseId: knowledgeBaseId, documentId };
      return withinRoom(tx, ownerId, ctx.room, async () => {
        await requireHeldBase(tx, key);
        const row = await getDocumentRow(tx, key);
        const given = readContent(content, ctx.allowedHosts);
        const same = await findSameContent(tx, key, given);
        if (same && same.documentId !== documentId) throw isElsewhere(same);
        const isDuplicate = same !== null && changesNothing(row, { name, language, given });
        if (!isDuplicate) await replace(tx, row, { name, language, given }, ctx.clock.now());
        else if (given.url === null) await deleteContentParts(tx, ownerId, given.contentId);
        return { document: toDocument(await getDocumentRow(tx, key)), duplicate: isDuplicate };
      });
    });
    return orForget(ctx.db, { ownerId, content }, call, replaced);
  };
}

interface Asked {
  name: string | undefined;
  language: string | undefined;
  given: Given;
}

/** Content that failed is tried again. */
function changesNothing(row: DocumentRow, { name = row.name, language, given }: Asked): boolean {
  const isKept = row.status !== "FAILED" && row.error === null && given.url === null;
  return isKept && name === row.name && (language ?? row.givenLanguage) === row.givenLanguage;
}

async function replace(tx: Sql, row: DocumentRow, { name, language, given }: Asked, now: Date): Promise<void> {
  const { url, refreshHours } = given;
  await setReplacement(tx, row, { name, givenLanguage: language, url, refreshHours, now });
  await enqueueContent(tx, row, given, now);
}

function isElsewhere({ name, documentId }: DocumentRow): ServiceError {
  return new ServiceError(
    "conflict",
    `The document ${name} (${documentId}) has this content already: delete one of the two documents`,
  );
}
