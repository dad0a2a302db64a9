import { HangUpCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { runPrepared } from "@parley/shared/idempotency/run";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { toCall } from "../outbound/convert.ts";
import { endCall } from "../outbound/end-call.ts";
import { watchJob } from "../outbound/place-calls.ts";
import { wakeLane } from "../outbound/wake-lane.ts";
import type { OutboundCall, OutboundKey } from "../store/outbound-calls.ts";
import { storeUnwanted } from "../store/outbound-progress.ts";
import { getOutboundCall } from "./get-call.ts";

export function hangUpCall(ctx: OutboundContext): Handler<"hangUpCall"> {
  return async ({ idempotency, ...key }, call) =>
    runPrepared(
      ctx,
      { ownerId: key.ownerId, idempotency, codec: HangUpCallResponse, call },
      {
        // It is harmless to hang up twice, so this need not be part of the write.
        prepare: async () => {
          await giveUpCall(ctx, key);
          return { call: toCall(await getOutboundCall(ctx.db, key)) };
        },
        write: async (_tx, response) => response,
      },
    );
}

/** @throws ServiceError not_found */
async function giveUpCall(ctx: OutboundContext, key: OutboundKey): Promise<void> {
  await getOutboundCall(ctx.db, key);
  const call = await ctx.db.begin(async (tx) => {
    const now = ctx.clock.now();
    const unwanted = await storeUnwanted(tx, key, now);
    if (unwanted && unwanted.status !== "ENDED") await enqueueJob(tx, watchJob(unwanted, now));
    if (unwanted?.status === "QUEUED") await wakeLane(tx, unwanted, now);
    return unwanted;
  });
  if (call) await hangUp(ctx, call);
}

/** Ends the call at once where that is certain; the job that watches the call does the rest. */
async function hangUp(ctx: OutboundContext, call: OutboundCall): Promise<void> {
  const isUntried = call.status === "QUEUED" && call.attempts === 0;
  if (isUntried) await endCall(ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes: null });
  else if (call.status !== "ENDED") await ctx.signals.tell(call, "hang_up");
}
