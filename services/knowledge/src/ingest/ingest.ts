import type { Clock } from "@parley/shared/clock";
import type { Database, Sql } from "@parley/shared/db/database";
import { isFull, type RoomSettings } from "@parley/shared/domain/full";
import type { Egress } from "@parley/shared/egress/egress";
import type { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { holdsJob, type Job } from "@parley/shared/jobs/store";
import { timeSlice } from "@parley/shared/jobs/time-slice";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import { counter } from "@parley/shared/telemetry/instruments";
import { codePoints } from "@parley/shared/text/length";
import { nameFault } from "@parley/shared/text/name";
import { DOCUMENT_NAME_MAX, nameOfPage } from "../rules.ts";
import { replaceChunks } from "../search/index-chunks.ts";
import { beginNext, deleteContent, lockContent, type Next, readParts } from "../store/contents.ts";
import { keepText, type ServedText, setFetched, setText } from "../store/documents.ts";
import { deleteText, insertText } from "../store/texts.ts";
import { type MediaType, mediaTypeOf } from "../text/media-types.ts";
import type { ParsedText, Parser } from "../text/parse.ts";
import { fetchPage } from "./fetch-page.ts";
import { INGEST } from "./take-content.ts";

interface IngestContext {
  db: Database;
  clock: Clock;
  room: RoomSettings;
  parser: Parser;
  ask: Egress["ask"];
  /** Called when a base has new chunks. */
  changed(ownerId: string, baseId: string): Promise<void>;
  /** Hands a document that is being read over to another process. */
  stopping: AbortSignal;
}

/** Documents that a process reads at once; one of each owner. */
const AT_ONCE = 2;
/** Runs that begin with a content before it fails, so that one that ends its process again and again does not keep others waiting. */
const ATTEMPTS_MAX = 5;
const GIVEN_UP = "The document could not be processed. Try again, or send it in another format.";

const ingested = counter("parley.knowledge.documents", "Contents of documents by what became of them");

/** A job for each owner makes texts of the contents that wait, one after the other. */
export function ingestion(ctx: IngestContext): Record<string, Queue> {
  return {
    [INGEST]: {
      concurrency: AT_ONCE,
      perOwner: 1,
      run: async (job, lease) => {
        const isOver = timeSlice(lease);
        const ending = AbortSignal.any([lease, ctx.stopping]);
        while (!ctx.stopping.aborted) {
          const next = await beginNext(ctx.db, job.ownerId);
          if (!next) return;
          await ingest(ctx, job, next, ending).catch((error: unknown) => {
            if (!ctx.stopping.aborted) throw error;
          });
          if (isOver()) break;
        }
        return HAND_OVER;
      },
    },
  };
}

async function ingest(ctx: IngestContext, job: Job, next: Next, ending: AbortSignal): Promise<void> {
  const outcome = next.attempts > ATTEMPTS_MAX ? { reason: GIVEN_UP } : await makeText(ctx, next, ending);
  ending.throwIfAborted();
  const settled = await settle(ctx, job, next, outcome).catch((error: unknown) => {
    if (!isFull(error)) throw error;
    return settle(ctx, job, next, { reason: `${(error as ServiceError).detail}.` });
  });
  if (settled) ingested().add(1, { result: settled });
  if (settled === "ready") await ctx.changed(next.ownerId, next.baseId);
}

/** A text of a content, or why there is none. */
type Outcome =
  | (ParsedText & { mediaType: string; sha256: Uint8Array; etag: string | null })
  | { unchanged: true; etag: string | null }
  /** A sentence for the owner. */
  | { reason: string };

async function makeText(ctx: IngestContext, next: Next, ending: AbortSignal): Promise<Outcome> {
  const content = next.mediaType === null ? await pageOf(ctx, next, ending) : await sentOf(ctx, next);
  if ("reason" in content || "unchanged" in content) return content;
  const { bytes, ...kept } = content;
  const language = next.givenLanguage ?? undefined;
  const parsed = await ctx.parser.parse({ bytes, mediaType: kept.mediaType, language }, ending);
  return "reason" in parsed ? parsed : { ...kept, ...parsed };
}

interface Content {
  bytes: Uint8Array;
  mediaType: MediaType;
  sha256: Uint8Array;
  etag: string | null;
}

async function sentOf({ db }: IngestContext, { ownerId, contentId, mediaType, sha256 }: Next): Promise<Content> {
  const bytes = await readParts(db, ownerId, contentId);
  return { bytes, mediaType: mediaType as MediaType, sha256: sha256 ?? hashOf(bytes), etag: null };
}

async function pageOf(
  { ask }: IngestContext,
  { url, etag, keepsText, textSha256 }: Next,
  ending: AbortSignal,
): Promise<Content | Exclude<Outcome, { text: string }>> {
  const fetched = await fetchPage(ask, { url: url ?? "", etag: keepsText ? etag : null }, ending);
  if (fetched === "unchanged") return { unchanged: true, etag };
  if ("reason" in fetched) return fetched;
  const { bytes, contentType } = fetched;
  const sha256 = hashOf(bytes);
  if (textSha256?.equals(sha256)) return { unchanged: true, etag: fetched.etag };
  // Many servers know no Word documents. Then its address tells.
  const name = URL.parse(url ?? "")?.pathname ?? "";
  const mediaType = mediaTypeOf({ name: "", contentType, bytes }) ?? mediaTypeOf({ name, contentType, bytes });
  if (mediaType === null) return { reason: "The page is neither text nor HTML, a PDF or a DOCX." };
  return { bytes, mediaType, sha256, etag: fetched.etag };
}

function hashOf(content: Uint8Array | string): Buffer {
  return new Bun.CryptoHasher("sha256").update(content).digest();
}

/**
 * Stores what became of a content, all of it or nothing.
 * @returns null if the document or this content is gone
 * @throws ServiceError that `isFull`; Error if another run has the job
 */
async function settle(
  { db, clock, room }: IngestContext,
  job: Job,
  next: Next,
  outcome: Outcome,
): Promise<"ready" | "unchanged" | "failed" | null> {
  const ended = db.begin(async (tx) => {
    // First, because it takes long: until then, nobody waits for the owner's lock.
    const stored = "text" in outcome ? await storeText(tx, next, outcome) : null;
    return withinRoom(tx, next.ownerId, room, async () => {
      if (!(await holdsJob(tx, job))) throw new Error("another run has the job");
      const before = await lockContent(tx, next);
      if (!before) throw new Gone();
      const now = clock.now();
      await deleteContent(tx, next);
      const etag = "reason" in outcome ? next.etag : outcome.etag;
      if (next.mediaType === null) await setFetched(tx, next, { etag, now });
      if (!stored) {
        const error = "reason" in outcome ? outcome.reason : null;
        await keepText(tx, next, error, now);
        return error === null ? "unchanged" : "failed";
      }
      await setText(tx, next, stored, now);
      if (before.textId !== null) await deleteText(tx, { ownerId: next.ownerId, textId: before.textId });
      return "ready";
    });
  });
  return ended.catch((error: unknown) => {
    if (error instanceof Gone) return null;
    throw error;
  }) as Promise<"ready" | "unchanged" | "failed" | null>;
}

/** Stores a text with its chunks, which serve once the transaction ends. */
async function storeText(
  tx: Sql,
  { ownerId, baseId, documentId, name, url }: Next,
  { text, language, title, chunks, mediaType, sha256 }: Extract<Outcome, ParsedText>,
): Promise<ServedText> {
  const textId = newUuid();
  await replaceChunks(tx, { ownerId, baseId, documentId, language }, chunks);
  await insertText(tx, { ownerId, textId }, text);
  const [bytes, characters] = [Buffer.byteLength(text), codePoints(text)];
  // A page that its owner gave no name is called what it calls itself.
  const called = title !== null && name === nameOfPage(url ?? "") && nameFault(title, DOCUMENT_NAME_MAX) === null;
  const textHash = hashOf(text).readBigInt64BE();
  const served = { textId, mediaType, language, sha256, bytes, characters, chunkCount: chunks.length, textHash };
  return called ? { ...served, name: title } : served;
}

/** Rolls back what was stored for a document that is gone. */
class Gone extends Error {}
