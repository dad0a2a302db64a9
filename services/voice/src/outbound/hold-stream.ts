import { notFound } from "@parley/shared/errors";
import type { CallUnderWay, Connect } from "../call/port.ts";
import { asServiceError } from "../call/transcript.ts";
import { streamCarrier } from "../carriers/stream-carrier.ts";
import { findOutboundCall, isHeld, type OutboundCall, type OutboundKey } from "../store/outbound-calls.ts";
import type { ArrivedStream } from "../transport/media-stream/connection.ts";
import { callRequest } from "./call-request.ts";
import type { HoldContext } from "./context.ts";
import { endCall } from "./end-call.ts";

/** Holds the call whose carrier has begun to stream its audio; refuses the stream of any other. Never rejects. */
export async function holdStream(ctx: HoldContext, stream: ArrivedStream): Promise<void> {
  try {
    const { carrierCallId } = stream;
    await holdAnswered(ctx, stream, async (call, listener) =>
      stream.accept(
        listener,
        streamCarrier(ctx.carriersOf, { ...call, carrierCallId, ownNumber: call.fromMobileNumber }),
      ),
    );
  } catch (err) {
    ctx.log.info({ err, call_id: stream.callId, owner_id: stream.ownerId }, "a call's audio was refused");
    stream.refuse();
  }
}

/**
 * Holds a call whose carrier has connected its audio.
 * @throws ServiceError not_found if the call has ended, or whatever `startCall` refuses it with
 */
export async function holdAnswered(
  ctx: HoldContext,
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
