import type { Clock } from "@parley/shared/clock";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { backOff } from "@parley/shared/retry/back-off";
import { CarrierRefusal, type CarriersOf } from "../carriers/carrier.ts";
import type { CallKey } from "../store/calls.ts";
import type { FarEnd } from "../transport/leg.ts";
import type { UserAgent } from "../transport/sip/user-agent.ts";

export const LOST_QUEUE = "hang-up-lost";

const LEASE_MS = 10_000;
const RETRY_MAX_MS = 60_000;
/** Over the longest call, four hours, while its carrier is down. */
const TRIES_MAX = 250;

export interface LostLegContext {
  carriersOf: CarriersOf;
  /** Null if this installation has no SIP. */
  sip(): Pick<UserAgent, "hangUpLost"> | null;
  log: Logger;
}

/** Has a job hang up a call whose process is gone, so that its other party does not listen to silence. */
export async function hangUpLater(sql: Sql, clock: Clock, call: CallKey, farEnd: FarEnd): Promise<void> {
  const { ownerId, conversationId } = call;
  const job = { ownerId, jobId: `hang-up:${conversationId}`, queue: LOST_QUEUE, payload: farEnd };
  await enqueueJob(sql, { ...job, dueAt: clock.now() });
}

/** Ends at the other side what processes that are gone have left. */
export function hangUpLost({ carriersOf, sip, log }: LostLegContext): Queue {
  return {
    concurrency: 16,
    leaseMs: LEASE_MS,
    retryDelayMs: (attempts) => (attempts < TRIES_MAX ? backOff(1_000, RETRY_MAX_MS)(attempts) : null),
    run: async ({ ownerId, payload }) => {
      const farEnd = payload as FarEnd;
      if (farEnd.type === "sip") return sip()?.hangUpLost(farEnd.dialog);
      try {
        const carrier = await carriersOf(ownerId, farEnd.carrierId);
        await carrier.hangUp(farEnd.carrierCallId);
      } catch (err) {
        const isFinal = err instanceof CarrierRefusal || (err instanceof ServiceError && err.kind === "not_found");
        if (!isFinal) throw err;
        log.warn({ err, owner_id: ownerId }, "a lost call could not be hung up at its carrier");
      }
    },
  };
}
