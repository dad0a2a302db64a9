import type { Sql } from "@parley/shared/db/database";
import { countryFault } from "../outbound/call-policy.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { endCallWithin } from "../outbound/end-call.ts";
import { untilTomorrow } from "../outbound/new-call.ts";
import { findBatch, storeEntryTakenBack } from "../store/call-batches.ts";
import { findListed } from "../store/do-not-call.ts";
import { deleteUntried, isUnchanged } from "../store/outbound-attempts.ts";
import type { OutboundCall } from "../store/outbound-calls.ts";
import { waitsUntil, wakeBatch } from "./run-batches.ts";

/** What becomes of a call whose turn in the queue has come; `notes` are the call's. */
export type Turn = { type: "begins" } | { type: "cancelled"; notes: string | null } | { type: "taken_back" };

type Context = Pick<OutboundContext, "db" | "clock" | "policies">;

/** Why a batch takes a number back: the notes of its call, and how long the batch waits before it looks at its numbers again. */
interface Obstacle {
  notes: string;
  waitMs: number;
}

const DENIED: Obstacle = { notes: "The number is on the do-not-call list", waitMs: 0 };
const CLOSED: Obstacle = { notes: "The batch was paused or its window closed", waitMs: 0 };
const FULL: Obstacle = { notes: "The account had no room for the conversation", waitMs: 60_000 };

/**
 * Decides about a call immediately before its carrier is asked for it, because it may have waited for an hour. While its batch is
 * paused, its window closed or its number on the do-not-call list, the batch takes the number back.
 */
export async function turnOf(ctx: Context, call: OutboundCall): Promise<Turn> {
  if (call.isUnwanted) return { type: "cancelled", notes: null };
  const policy = await ctx.policies?.of(call.ownerId);
  const fault = policy ? countryFault(call.toMobileNumber, policy) : null;
  // The operator has changed what the owner may call.
  if (fault !== null) return { type: "cancelled", notes: `The number is refused: ${fault}` };
  const spent = policy && call.attempts === 1 ? await ctx.policies?.spent(call.ownerId, policy) : null;
  if (spent) {
    const waits = await inTransaction(ctx, call, { notes: spent, waitMs: untilTomorrow(ctx.clock.now()) });
    return waits ?? { type: "cancelled", notes: spent };
  }
  const isDenied = (await findListed(ctx.db, call.ownerId, call.toMobileNumber)) !== null;
  const inBatch = await inTransaction(ctx, call, isDenied ? DENIED : null);
  if (inBatch) return inBatch;
  return isDenied ? { type: "cancelled", notes: DENIED.notes } : { type: "begins" };
}

/**
 * Decides about a call whose conversation was refused because its owner's are full: its batch takes the number back, and looks a
 * minute later whether there is room. Null for a call without a batch, which fails.
 */
export function turnWithoutRoom(ctx: Context, call: OutboundCall): Promise<Turn | null> {
  return inTransaction(ctx, call, FULL);
}

function inTransaction(ctx: Context, call: OutboundCall, obstacle: Obstacle | null): Promise<Turn | null> {
  return ctx.db.begin((tx) => turnInBatch(tx, ctx, call, obstacle)) as Promise<Turn | null>;
}

/** Null for a call without a batch, or that its batch lets begin. */
async function turnInBatch(tx: Sql, ctx: Context, call: OutboundCall, given: Obstacle | null): Promise<Turn | null> {
  const { ownerId, batchId, batchNumber } = call;
  if (batchId === null || batchNumber === null) return null;
  const batch = await findBatch(tx, { ownerId, batchId }, true);
  if (batch?.status === "CANCELLED") return { type: "cancelled", notes: null };
  if (!batch || batch.status === "ENDED") return null;
  const now = ctx.clock.now();
  const isOpen = batch.status === "RUNNING" && waitsUntil(batch, now) === null;
  const obstacle = given ?? (isOpen ? null : CLOSED);
  if (!obstacle) return null;
  // Another process makes the next attempt, and has decided about it.
  if (!(await isUnchanged(tx, call))) return { type: "taken_back" };
  // Before the call ends, because the number of one that has ended forgets its variables.
  await storeEntryTakenBack(tx, batch, batchNumber);
  // Nothing is known of a call before its first attempt; after that, it may have a conversation.
  if (!(await deleteUntried(tx, call)))
    await endCallWithin(tx, ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes: obstacle.notes });
  await wakeBatch(tx, batch, new Date(now.getTime() + obstacle.waitMs));
  return { type: "taken_back" };
}
