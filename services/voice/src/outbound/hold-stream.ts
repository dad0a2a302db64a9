import type { OutboundCall } from "../store/outbound-calls.ts";
import type { ArrivedStream } from "../transport/media-stream/connection.ts";
import type { StreamCarrier } from "../transport/media-stream/stream-leg.ts";
import { holdAnswered } from "./called-back.ts";
import type { OutboundContext } from "./context.ts";

/** Holds the call whose carrier has begun to stream its audio; refuses the stream of any other. Never rejects. */
export async function holdStream(ctx: OutboundContext, stream: ArrivedStream): Promise<void> {
  try {
    await holdAnswered(ctx, stream, async (call, listener) =>
      stream.accept(listener, carrierOf(ctx, call, stream.carrierCallId)),
    );
  } catch (err) {
    ctx.log.info({ err, call_id: stream.callId, owner_id: stream.ownerId }, "a call's audio was refused");
    stream.refuse();
  }
}

function carrierOf(ctx: OutboundContext, call: OutboundCall, carrierCallId: string): StreamCarrier {
  const { ownerId, carrierId, fromMobileNumber: ownNumber } = call;
  return {
    farEnd: { type: "carrier", carrierId, carrierCallId },
    transfer: async (to) => (await ctx.carriersOf(ownerId, carrierId)).transfer({ carrierCallId, ownNumber }, to),
    hangUp: async () => (await ctx.carriersOf(ownerId, carrierId, { hangsUp: true })).hangUp(carrierCallId),
  };
}
