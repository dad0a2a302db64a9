import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteParts, deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import { STORED_BYTES } from "@parley/shared/stored-bytes/room";
import type { CallSignals } from "../call/signals.ts";
import { endSession } from "../daily/end-session.ts";
import type { VoiceFeature } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { endCall } from "../outbound/end-call.ts";
import type { Recordings } from "../recording/recordings.ts";
import { forgetOwner } from "../rpc/forget-owner.ts";
import { cancelBatchesOf } from "../store/call-batches.ts";
import type { CallEnd } from "../store/calls.ts";
import { listOpenSessions } from "../store/daily-sessions.ts";
import { DO_NOT_CALL_TOTALS } from "../store/do-not-call.ts";
import { isHeld, listUnended } from "../store/outbound-calls.ts";
import { listCallsOf, listRecordingsOf } from "../store/owner-rows.ts";

interface ForgetContext extends Pick<OutboundContext, "db" | "clock"> {
  signals: Pick<CallSignals, "tell">;
  recordings: Pick<Recordings, "remove">;
}

/** Recordings whose removal one transaction requests. */
const ROWS = 1_000;
/** What is kept beside conversations. Other calls are deleted with those, at the latest after 30 days. */
const TABLES: readonly OwnedTable[] = [
  // Each may have 10,000 numbers.
  { name: "call_batches", key: ["batch_id"], rows: 10 },
  { name: "do_not_call", key: ["mobile_number"] },
  DO_NOT_CALL_TOTALS,
  { name: "incoming_calls", key: ["call_id"] },
  { name: "person_calls", key: ["call_id"] },
  { name: "spoken_calls", key: ["call_id"] },
  { name: "call_commands", key: ["command_id"] },
  { name: "call_usage", key: ["day"] },
  { name: "web_calls", key: ["conversation_id"] },
  STORED_BYTES,
  { name: "media_streams", key: ["token_digest"] },
  { name: "trunk_contacts", key: ["carrier_id"] },
  { name: "trunk_registrations", key: ["carrier_id"] },
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];
/** The end of a call that no process holds. */
const END: CallEnd = { outcome: "CANCELLED", durationSeconds: 0, notes: "The account was deleted" };

/**
 * Ends the calls of deleted owners, and deletes what is kept of them beside conversations: batches, do-not-call lists, recordings, how
 * their trunks stand. Their ended calls are deleted with the conversations, at the latest after 30 days.
 */
export function forgetOwners(ctx: ForgetContext) {
  return {
    handlers: { forgetOwner: forgetOwner(ctx) },
    queues: forgetQueue(async (ownerId, lease) => {
      await endAll(ctx, ownerId);
      await deleteAll(ctx, ownerId, lease);
    }),
  } satisfies VoiceFeature;
}

async function endAll(ctx: ForgetContext, ownerId: string): Promise<void> {
  const { db, clock, signals } = ctx;
  // First, so that no further numbers enter the queue.
  await cancelBatchesOf(db, ownerId, clock.now());
  for (const call of await listUnended(db, ownerId))
    if (!(await isHeld(db, call))) await endCall(ctx, call, END, { mayRing: true });
  for (const session of await listOpenSessions(db, ownerId))
    if (!(await isHeld(db, session))) await endSession(ctx, session, END);
  for (const call of await listCallsOf(db, ownerId)) await signals.tell(call, "hang_up");
}

async function deleteAll({ db, recordings }: ForgetContext, ownerId: string, lease: AbortSignal): Promise<void> {
  await deleteRowsOf(db, ownerId, lease, TABLES);
  await deleteParts(lease, async () => {
    const ids = await listRecordingsOf(db, ownerId, ROWS);
    await recordings.remove(ownerId, ids);
    return ids.length;
  });
}
