import type { Sql } from "@parley/shared/db/database";
import type { OutboundContext } from "../outbound/context.ts";
import { endCallWithin } from "../outbound/end-call.ts";
import { findBatch, storeEntryTakenBack } from "../store/call-batches.ts";
import { findListed } from "../store/do-not-call.ts";
import { deleteUntried, isUnchanged } from "../store/outbound-attempts.ts";
import type { OutboundCall } from "../store/outbound-calls.ts";
import { waitsUntil, wakeBatch } from "./run-batches.ts";

/** What becomes of a call whose turn in the queue has come; `notes` are the call's. */
export type Turn = { type: "begins" } | { type: "cancelled"; notes: string | null } | { type: "taken_back" };

type Context = Pick<OutboundContext, "db" | "clock">;

const NOTES = { denied: "The number is on the do-not-call list", closed: "The batch was paused or its window closed" };

/**
 * Decides about a call immediately before its carrier is asked for it, because it may have waited for an hour. While its batch is
 * paused, its window closed or its number on the do-not-call list, the batch takes the number back.
 */
export async function turnOf(ctx: Context, call: OutboundCall): Promise<Turn> {
  if (call.isUnwanted) return { type: "cancelled", notes: null };
  const isDenied = (await findListed(ctx.db, call.ownerId, call.toMobileNumber)) !== null;
  const inBatch = (await ctx.db.begin((tx) => turnInBatch(tx, ctx, call, isDenied))) as Turn | null;
  if (inBatch) return inBatch;
  return isDenied ? { type: "cancelled", notes: NOTES.denied } : { type: "begins" };
}

/** Null for a call without a batch, or that its batch lets begin. */
async function turnInBatch(tx: Sql, ctx: Context, call: OutboundCall, isDenied: boolean): Promise<Turn | null> {
  const { ownerId, batchId, batchNumber } = call;
  if (batchId === null || batchNumber === null) return null;
  const batch = await findBatch(tx, { ownerId, batchId }, true);
  if (batch?.status === "CANCELLED") return { type: "cancelled", notes: null };
  if (!batch || batch.status === "ENDED") return null;
  const now = ctx.clock.now();
  const isOpen = batch.status === "RUNNING" && waitsUntil(batch, now) === null;
  if (isOpen && !isDenied) return null;
  // Another process makes the next attempt, and has decided about it.
  if (!(await isUnchanged(tx, call))) return { type: "taken_back" };
  const notes = isDenied ? NOTES.denied : NOTES.closed;
  // Before the call ends, because the number of one that has ended forgets its variables.
  await storeEntryTakenBack(tx, batch, batchNumber);
  // Nothing is known of a call before its first attempt; after that, it may have a conversation.
  if (!(await deleteUntried(tx, call)))
    await endCallWithin(tx, ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes });
  await wakeBatch(tx, batch, now);
  return { type: "taken_back" };
}
