import type { Queue } from "@parley/shared/jobs/worker";
import { CarrierRefusal } from "../carriers/carrier.ts";
import { requeueLostCall } from "../store/outbound-attempts.ts";
import { findOutboundCall, isHeld, type OutboundCall } from "../store/outbound-calls.ts";
import { reportEnd } from "./carrier-end.ts";
import { JOB_LEASE_MS, type OutboundContext } from "./context.ts";
import { endUnchanged } from "./end-call.ts";
import { refusalOf } from "./place-calls.ts";
import { wakeLane } from "./wake-lane.ts";

/** How long the carrier may be silent about a call before it is asked. */
const LATE_MS = 15_000;
/** Interval between attempts to end a call. */
const AGAIN_MS = 2_000;
/** Interval between checks of a call without problems. */
const EVERY_MS = 30_000;

/**
 * Looks after each call from its first attempt to its end, and does what a process or a callback left undone. Each call has a
 * job, so that this survives the death of a process.
 */
export function watchCalls(ctx: OutboundContext): Queue {
  return {
    concurrency: 16,
    leaseMs: JOB_LEASE_MS,
    run: async ({ ownerId, payload }) => {
      const { callId } = payload as { callId: string };
      const call = await findOutboundCall(ctx.db, { ownerId, callId });
      if (!call || call.status === "ENDED") return;
      const now = ctx.clock.now().getTime();
      const afterMs = await look(ctx, call, now);
      return new Date(now + afterMs);
    },
  };
}

/** @returns when to look again, in milliseconds */
async function look(ctx: OutboundContext, call: OutboundCall, now: number): Promise<number> {
  // The next attempt watches it again; until then, this does.
  if (call.status === "QUEUED") return EVERY_MS;
  if (await isHeld(ctx.db, call)) {
    if (call.isUnwanted || now > endsBy(call)) await ctx.signals.tell(call, "hang_up");
    return call.isUnwanted ? AGAIN_MS : EVERY_MS;
  }
  if (call.status === "PLACING") {
    if (now < call.dueAt.getTime()) return call.dueAt.getTime() - now;
    await placeAgain(ctx, call);
    return AGAIN_MS;
  }
  const isLate = now > expectedBy(call);
  if (!call.isUnwanted && !isLate) return Math.max(AGAIN_MS, expectedBy(call) - now);
  await askCarrier(ctx, call).catch(async (error) => {
    // The carrier was disconnected, or its credentials are wrong: nobody will report this call's end.
    const refusal = refusalOf(call, error);
    if (refusal === null) throw error;
    await endUnchanged(ctx, call, lost(refusal));
  });
  return AGAIN_MS;
}

/** The process that made the attempt is gone. The next attempt asks the carrier first. */
async function placeAgain({ db, clock }: OutboundContext, call: OutboundCall): Promise<void> {
  await db.begin(async (tx) => {
    if (await requeueLostCall(tx, call, clock.now())) await wakeLane(tx, call, clock.now());
  });
}

/** Ends a call without reports from its carrier, or one that its owner wants to end. */
async function askCarrier(ctx: OutboundContext, call: OutboundCall): Promise<void> {
  // No process holds its audio, so it is over.
  if (call.provider === "SIP") return void (await endUnchanged(ctx, call, lost("The call was lost")));
  const carrier = await ctx.carriersOf(call.ownerId, call.carrierId, { hangsUp: true });
  const { callId, fromMobileNumber: from, toMobileNumber: to, createdAt: since } = call;
  const found = await carrier.find({ callId, from, to, since });
  if (found?.end) return reportEnd(ctx, call, found.end);
  if (!found) return void (await endUnchanged(ctx, call, lost("The carrier does not know the call")));
  await carrier.hangUp(found.carrierCallId).catch((error) => {
    if (!(error instanceof CarrierRefusal)) throw error;
  });
  if (call.status === "IN_PROGRESS")
    await endUnchanged(ctx, call, lost("The carrier did not connect the call's audio"));
}

function lost(notes: string) {
  return { outcome: "ERROR" as const, durationSeconds: 0, notes };
}

/** When the carrier should have reported more about a call that no process holds. */
function expectedBy({ answeredAt, placedAt, createdAt, ringSeconds }: OutboundCall): number {
  if (answeredAt) return answeredAt.getTime() + LATE_MS;
  return (placedAt ?? createdAt).getTime() + ringSeconds * 1_000 + LATE_MS;
}

function endsBy({ answeredAt, placedAt, createdAt, ringSeconds, maxDurationSeconds }: OutboundCall): number {
  const seconds = answeredAt ? maxDurationSeconds : ringSeconds + maxDurationSeconds;
  return (answeredAt ?? placedAt ?? createdAt).getTime() + seconds * 1_000 + LATE_MS;
}
