import type { Database, Sql } from "@parley/shared/db/database";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { type DocumentKey, findDocument, listRefreshDue, setPending } from "../store/documents.ts";
import { enqueueContent } from "./take-content.ts";

const EVERY_MS = 60_000;
const AT_ONCE = 100;

/** Has a document's page fetched. The owner's stored bytes must be locked. */
export async function enqueueRefresh(tx: Sql, key: DocumentKey, url: string, now: Date): Promise<void> {
  await setPending(tx, key, now);
  await enqueueContent(tx, key, { url, refreshHours: null }, now);
}

/** Has the pages fetched that are due. */
export function refreshes(db: Database): Sweep {
  return {
    name: "refresh-documents",
    everyMs: EVERY_MS,
    run: async (now, stopping) => {
      while (!stopping.aborted) {
        const due = await listRefreshDue(db, now, AT_ONCE);
        for (const key of due) await refreshDue(db, key, now);
        if (due.length < AT_ONCE) return;
      }
    },
  };
}

async function refreshDue(db: Database, key: DocumentKey, now: Date): Promise<void> {
  await db.begin(async (tx) => {
    await lockStoredBytes(tx, key.ownerId);
    const row = await findDocument(tx, key);
    if (row && row.status !== "PENDING" && row.url !== null) await enqueueRefresh(tx, key, row.url, now);
  });
}
