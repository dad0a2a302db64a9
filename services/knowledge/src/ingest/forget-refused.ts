import type { DocumentContent } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import type { Database } from "@parley/shared/db/database";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { deleteUntaken } from "../store/contents.ts";

/** Errors after which nobody sends the same content again under its id. */
const FINAL: ReadonlySet<ErrorKind> = new Set(["invalid", "forbidden", "not_found", "conflict"]);

/** Waits for a write that takes content, and deletes what was sent if it is refused, or was done before. */
export async function orForget<R>(
  db: Database,
  { ownerId, content }: { ownerId: string; content?: DocumentContent | undefined },
  call: { replayed?: boolean },
  write: Promise<R>,
): Promise<R> {
  const { source } = content ?? {};
  const forget = async () => {
    if (source?.$case === "stored") await forgetRefused(db, ownerId, source.value.contentId);
  };
  try {
    const answer = await write;
    if (call.replayed) await forget();
    return answer;
  } catch (error) {
    if (error instanceof ServiceError && FINAL.has(error.kind)) await forget();
    throw error;
  }
}

/** Deletes what was sent, unless a document took it: otherwise it would take the owner's room for an hour. */
export async function forgetRefused(db: Database, ownerId: string, contentId: string): Promise<void> {
  await db.begin(async (tx) => {
    await lockStoredBytes(tx, ownerId);
    await deleteUntaken(tx, ownerId, contentId);
  });
}
