import type { DocumentContent } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import type { Sql } from "@parley/shared/db/database";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { invalid } from "@parley/shared/errors";
import { isUuid, newUuid } from "@parley/shared/ids";
import { enqueueJob } from "@parley/shared/jobs/store";
import { checkPage } from "../rules.ts";
import { type ContentRow, measureParts, putContent } from "../store/contents.ts";
import type { DocumentKey } from "../store/documents.ts";
import { mediaTypeOf } from "../text/media-types.ts";

/** The queue with a job for each owner whose content waits. */
export const INGEST = "ingest";

/** Bytes that were sent for a document. */
interface Sent {
  url: null;
  refreshHours: null;
  contentId: string;
  sha256: Uint8Array;
  bytes: number;
  fileName: string;
  contentType: string;
}

/** A page that is to be fetched. */
interface Page {
  url: string;
  refreshHours: number | null;
}

export type Given = Sent | Page;

/** Reads what a request says of a document's content. @throws ServiceError invalid */
export function readContent(content: DocumentContent | undefined, allowedHosts: AllowList): Given {
  const { source } = content ?? {};
  if (!source) throw invalid("content", "content is required");
  if (source.$case === "page") {
    const { url, refreshHours } = source.value;
    checkPage(source.value, allowedHosts);
    return { url, refreshHours: refreshHours ?? null };
  }
  const { contentId, bytes } = source.value;
  if (!isUuid(contentId)) throw invalid("content_id", "content_id must be a UUID");
  if (bytes === 0) throw invalid("file", "The document is empty");
  return { ...source.value, url: null, refreshHours: null };
}

/**
 * Makes content wait for its document's turn.
 * @throws ServiceError invalid when it did not arrive, or is nothing that can be read
 */
export async function enqueueContent(
  tx: Sql,
  { ownerId, documentId }: Pick<DocumentKey, "ownerId" | "documentId">,
  given: Given,
  now: Date,
): Promise<void> {
  await putContent(tx, { ownerId, documentId, ...(await contentOf(tx, ownerId, given)) }, now);
  await enqueueJob(tx, { ownerId, jobId: INGEST, queue: INGEST, payload: {}, dueAt: now });
}

async function contentOf(tx: Sql, ownerId: string, given: Given): Promise<Omit<ContentRow, "ownerId" | "documentId">> {
  if (given.url !== null) return { contentId: newUuid(), mediaType: null, sha256: null, bytes: 0 };
  const { contentId, sha256, bytes, fileName, contentType } = given;
  const arrived = await measureParts(tx, ownerId, contentId);
  if (arrived.bytes !== bytes) throw invalid("file", "The document did not arrive as a whole. Send it again.");
  const mediaType = mediaTypeOf({ name: fileName, contentType, bytes: arrived.head });
  if (mediaType === null)
    throw invalid("file", "A document must be a PDF, a DOCX, HTML, Markdown, plain text or a CSV file");
  return { contentId, mediaType, sha256, bytes };
}
