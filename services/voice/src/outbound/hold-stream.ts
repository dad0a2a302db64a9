import { findOutboundCall } from "../store/outbound-calls.ts";
import type { ArrivedStream } from "../transport/media-stream/connection.ts";
import { holdAnswered } from "./called-back.ts";
import type { OutboundContext } from "./context.ts";

/** Holds the call whose carrier has begun to stream its audio; refuses the stream of any other. Never rejects. */
export async function holdStream(ctx: OutboundContext, stream: ArrivedStream): Promise<void> {
  try {
    await holdAnswered(ctx, stream, async (listener) => stream.accept(listener, carrierOf(ctx, stream)));
  } catch (err) {
    ctx.log.info({ err, call_id: stream.callId, owner_id: stream.ownerId }, "a call's audio was refused");
    stream.refuse();
  }
}

function carrierOf(ctx: OutboundContext, { ownerId, callId, carrierCallId }: ArrivedStream) {
  const find = async () => {
    const call = await findOutboundCall(ctx.db, { ownerId, callId });
    if (!call) throw new Error("the call was deleted");
    return { carrier: await ctx.carriersOf(ownerId, call.carrierId), ownNumber: call.fromMobileNumber };
  };
  return {
    transfer: async (to: string) => {
      const { carrier, ownNumber } = await find();
      await carrier.transfer({ carrierCallId, ownNumber }, to);
    },
    hangUp: async () => (await find()).carrier.hangUp(carrierCallId),
  };
}
