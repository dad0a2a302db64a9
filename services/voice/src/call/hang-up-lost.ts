import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { type Carrier, CarrierRefusal, type CarriersOf } from "../carriers/carrier.ts";
import type { VoiceFeature } from "../feature.ts";
import { type CallKey, LOST_QUEUE } from "../store/calls.ts";
import type { FarEnd } from "../transport/leg.ts";
import type { UserAgent } from "../transport/sip/user-agent.ts";

/** Over the longest call, four hours, while its carrier is down. */
const TRIES_MAX = 500;

interface LostLegContext {
  carriersOf: CarriersOf;
  /** Null if this installation has no SIP. */
  sip: Pick<UserAgent, "hangUpLost" | "giveUpLost"> | null;
  log: Logger;
}

/** Has a job hang up a call that nobody holds, so that its phone does not ring on, or its other party listen to silence. */
export async function hangUpLater(sql: Sql, call: CallKey, farEnd: FarEnd, dueAt: Date): Promise<void> {
  const { ownerId, conversationId } = call;
  const job = { ownerId, jobId: `hang-up:${conversationId}`, queue: LOST_QUEUE, payload: farEnd };
  await enqueueJob(sql, { ...job, dueAt });
}

/** Ends at the other side what processes that are gone have left. */
export function lostCalls(ctx: LostLegContext) {
  return { queues: { [LOST_QUEUE]: hangUpLost(ctx) } } satisfies VoiceFeature;
}

function hangUpLost({ carriersOf, sip, log }: LostLegContext): Queue {
  return {
    concurrency: 16,
    attemptsMax: TRIES_MAX,
    run: async ({ ownerId, payload }) => {
      const given = payload as FarEnd;
      const ends = given.type === "several" ? given.ends : [given];
      // Nobody rings on because the carrier of another is down.
      const hungUp = await Promise.allSettled(ends.map((farEnd) => hangUp(ownerId, farEnd)));
      for (const each of hungUp) if (each.status === "rejected") throw each.reason;
    },
  };

  async function hangUp(ownerId: string, farEnd: FarEnd): Promise<void> {
    if (farEnd.type === "sip") return sip?.hangUpLost(farEnd.dialog);
    if (farEnd.type === "several") return;
    if (farEnd.type === "sip_invite") return sip?.giveUpLost(farEnd.invite);
    try {
      const carrier = await carriersOf(ownerId, farEnd.carrierId, { hangsUp: true });
      const carrierCallId = farEnd.type === "carrier" ? farEnd.carrierCallId : await findPlaced(carrier, farEnd);
      if (carrierCallId !== null) await carrier.hangUp(carrierCallId);
    } catch (err) {
      const isFinal = err instanceof CarrierRefusal || (err instanceof ServiceError && err.kind === "not_found");
      if (!isFinal) throw err;
      log.warn({ err, owner_id: ownerId }, "a lost call could not be hung up at its carrier");
    }
  }
}

/** Null if nothing rings. */
async function findPlaced(
  carrier: Carrier,
  { callId, from, to, since }: Extract<FarEnd, { type: "placed" }>,
): Promise<string | null> {
  const found = await carrier.find({ callId, from, to, since: new Date(since) });
  return found && !found.end ? found.carrierCallId : null;
}
