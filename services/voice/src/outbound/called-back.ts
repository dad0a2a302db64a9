import { notFound } from "@parley/shared/errors";
import type { CallUnderWay, Connect } from "../call/port.ts";
import { asServiceError } from "../call/transcript.ts";
import type { CalledBack, CarrierEvent } from "../carriers/carrier.ts";
import {
  findCalledBack,
  findOutboundCall,
  isHeld,
  type OutboundCall,
  type OutboundKey,
} from "../store/outbound-calls.ts";
import { storeAnswered, storeMachine, storeRinging } from "../store/outbound-progress.ts";
import { callRequest } from "./call-request.ts";
import { reportEnd } from "./carrier-end.ts";
import type { OutboundContext } from "./context.ts";
import { endCall } from "./end-call.ts";

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
      return ctx.expectMedia({ ...key, provider: call.provider });
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

/**
 * Holds a call whose carrier has connected its audio.
 * @throws ServiceError not_found if the call has ended, or whatever `startCall` refuses it with
 */
export async function holdAnswered(
  ctx: OutboundContext,
  { carrierCallId, ...key }: OutboundKey & { carrierCallId: string },
  connect: (call: OutboundCall, ...connect: Parameters<Connect>) => ReturnType<Connect>,
): Promise<CallUnderWay> {
  const call = await findOutboundCall(ctx.db, key);
  if (!call || call.status === "ENDED") throw notFound("Call");
  try {
    const farEnd = { type: "carrier", carrierId: call.carrierId, carrierCallId } as const;
    const begun = await ctx.startCall({ ...callRequest(call), farEnd }, (...given) => connect(call, ...given));
    // The report about a machine that arrived before the call was held.
    const { machine } = (await findOutboundCall(ctx.db, key)) ?? call;
    if (machine) await ctx.signals.tell(call, `machine_${machine}`);
    return begun;
  } catch (error) {
    if (!(await isHeld(ctx.db, call)))
      await endCall(ctx, key, { outcome: "ERROR", durationSeconds: 0, notes: asServiceError(error).detail });
    throw error;
  }
}
