import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { CallRequest, StartCall } from "../../call/port.ts";
import { findIncomingCall, type IncomingCall, unreserve } from "../../store/incoming-calls.ts";
import type { ArrivedStream } from "../../transport/media-stream/connection.ts";
import type { CarriersOf } from "../carrier.ts";
import { streamCarrier } from "../stream-carrier.ts";

interface HoldContext {
  db: Database;
  log: Logger;
  carriersOf: CarriersOf;
  startCall: StartCall;
}

/** Holds an incoming call whose audio has arrived. Never rejects. @returns false if it is not an incoming call */
export async function holdIncoming(ctx: HoldContext, stream: ArrivedStream): Promise<boolean> {
  try {
    const call = await findIncomingCall(ctx.db, stream);
    if (!call) return false;
    const carrier = streamCarrier(ctx.carriersOf, { ...call, ownNumber: call.toMobileNumber });
    const request = { ...requestOf(call), farEnd: carrier.farEnd };
    const starting = ctx.startCall(request, async (listener) => stream.accept(listener, carrier));
    await starting.finally(() => unreserve(ctx.db, call));
  } catch (err) {
    ctx.log.info({ err, call_id: stream.callId, owner_id: stream.ownerId }, "a call's audio was refused");
    stream.refuse();
  }
  return true;
}

export function requestOf(call: IncomingCall): CallRequest {
  return {
    ownerId: call.ownerId,
    agentId: call.agentId,
    conversationId: call.conversationId,
    channel: {
      type: "TELEPHONY",
      callingType: "INBOUND",
      toMobileNumber: call.toMobileNumber,
      fromMobileNumber: call.fromMobileNumber ?? undefined,
      telephonyProvider: call.provider,
    },
  };
}
