import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Handlers } from "@parley/shared/rpc/server";
import type { OutboundContext } from "../outbound/context.ts";
import { toCall } from "../outbound/convert.ts";
import { endCall } from "../outbound/end-call.ts";
import { watchJob } from "../outbound/place-calls.ts";
import { wakeLane } from "../outbound/wake-lane.ts";
import type { OutboundCall } from "../store/outbound-calls.ts";
import { storeUnwanted } from "../store/outbound-progress.ts";
import { getOutboundCall } from "./get-call.ts";

export function hangUpCall(ctx: OutboundContext): NonNullable<Handlers<typeof VoiceServiceService>["hangUpCall"]> {
  return async (key) => {
    await getOutboundCall(ctx.db, key);
    const call = await ctx.db.begin(async (tx) => {
      const now = ctx.clock.now();
      const unwanted = await storeUnwanted(tx, key, now);
      if (unwanted && unwanted.status !== "ENDED") await enqueueJob(tx, watchJob(unwanted, now));
      if (unwanted?.status === "QUEUED") await wakeLane(tx, unwanted, now);
      return unwanted;
    });
    if (call) await hangUp(ctx, call);
    return { call: toCall(await getOutboundCall(ctx.db, key)) };
  };
}

/** Ends the call at once where that is certain; the job that watches the call does the rest. */
async function hangUp(ctx: OutboundContext, call: OutboundCall): Promise<void> {
  const isUntried = call.status === "QUEUED" && call.attempts === 0;
  if (isUntried) await endCall(ctx, call, { outcome: "CANCELLED", durationSeconds: 0, notes: null });
  else if (call.status !== "ENDED") await ctx.signals.tell(call, "hang_up");
}
