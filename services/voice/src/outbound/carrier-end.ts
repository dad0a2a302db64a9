import type { CarrierEnd } from "../carriers/carrier.ts";
import type { CallEnd } from "../store/calls.ts";
import { isHeld, type OutboundCall } from "../store/outbound-calls.ts";
import type { OutboundContext } from "./context.ts";
import { endCall } from "./end-call.ts";

/** The carrier reports the end of a call. A process that holds the call knows better how it ended. */
export async function reportEnd(
  ctx: Pick<OutboundContext, "db" | "clock" | "signals">,
  call: OutboundCall,
  end: CarrierEnd,
): Promise<void> {
  if (await isHeld(ctx.db, call)) return ctx.signals.tell(call, "carrier_ended");
  await endCall(ctx, call, callEndOf(call, end));
}

/** If a person waits longer than this without hearing the agent, the fault is ours or the carrier's. */
const AUDIO_WITHIN_SECONDS = 2;

/** How a call that no process held has ended. */
function callEndOf({ isUnwanted, answeredAt, machine }: OutboundCall, end: CarrierEnd): CallEnd {
  const { notes, durationSeconds } = end;
  const ended = (outcome: CallEnd["outcome"], note: string | null = notes): CallEnd => ({
    outcome,
    notes: note,
    durationSeconds: answeredAt === null ? 0 : (durationSeconds ?? 0),
  });
  switch (end.how) {
    case "busy":
      return ended("BUSY");
    case "no_answer":
      return ended("NO_ANSWER");
    case "failed":
      return ended("ERROR");
    case "cancelled":
      return ended("CANCELLED");
    case "completed":
      if (machine !== null) return ended("NO_ANSWER", "A voicemail answered");
      if (isUnwanted && answeredAt === null) return ended("CANCELLED");
      if ((durationSeconds ?? 0) > AUDIO_WITHIN_SECONDS) return ended("ERROR", "The call's audio was not connected");
      // The callee left before the call had its audio, so before the greeting.
      return ended("HUNG_UP_EARLY");
  }
}
