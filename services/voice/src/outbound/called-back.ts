import type { CalledBack, CarrierEvent } from "../carriers/carrier.ts";
import { findCalledBack, findOutboundCall, isHeld, type OutboundCall } from "../store/outbound-calls.ts";
import { storeAnswered, storeMachine, storeRinging } from "../store/outbound-progress.ts";
import { reportEnd } from "./carrier-end.ts";
import type { OutboundContext } from "./context.ts";
import { endCall } from "./end-call.ts";

/** How long a carrier may take from asking what to play until it opens its stream. */
const STREAM_WITHIN_MS = 60_000;

/** Applies carriers' callbacks to outbound calls. */
export function calledBack(ctx: OutboundContext): CalledBack {
  return {
    find: (callId) => findCalledBack(ctx.db, callId),
    answer: async (key, { carrierCallId, machine }) => {
      const call = await findOutboundCall(ctx.db, key);
      if (!call || call.isUnwanted) return null;
      if (machine) await storeMachine(ctx.db, key, "answered");
      if (!(await storeAnswered(ctx.db, key, carrierCallId, ctx.clock.now()))) return null;
      if (machine && call.voicemail !== "leave_message") {
        await endCall(ctx, key, { outcome: "NO_ANSWER", durationSeconds: 0, notes: "A voicemail answered" });
        return null;
      }
      const expiresAt = new Date(ctx.clock.now().getTime() + STREAM_WITHIN_MS);
      return ctx.expectMedia({ ...key, dialect: call.provider === "PLIVO" ? "plivo" : "twilio", expiresAt });
    },
    report: async (key, event) => {
      const call = await findOutboundCall(ctx.db, key);
      if (call && call.status !== "ENDED") await report(ctx, call, event);
    },
  };
}

async function report(ctx: OutboundContext, call: OutboundCall, event: CarrierEvent): Promise<void> {
  switch (event.type) {
    case "ringing":
      return storeRinging(ctx.db, call, event.carrierCallId);
    case "answered":
      await storeAnswered(ctx.db, call, event.carrierCallId, ctx.clock.now());
      return event.machine ? tellMachine(ctx, call, "answered") : undefined;
    case "machine_ready":
      return tellMachine(ctx, call, "ready");
    case "ended":
      return reportEnd(ctx, call, event.end);
  }
}

async function tellMachine(ctx: OutboundContext, call: OutboundCall, machine: "answered" | "ready"): Promise<void> {
  await storeMachine(ctx.db, call, machine);
  if (await isHeld(ctx.db, call)) await ctx.signals.tell(call, `machine_${machine}`);
}
