import type { StreamCarrier } from "../transport/media-stream/stream-leg.ts";
import type { CarriersOf } from "./carrier.ts";

/** A call, with the number of ours that is a party to it, at the carrier that streams its audio. */
interface CarriedCall {
  ownerId: string;
  carrierId: string;
  carrierCallId: string;
  ownNumber: string;
}

/** What the carrier does for a call besides carrying audio; it is connected when it is asked. */
export function streamCarrier(
  carriersOf: CarriersOf,
  { ownerId, carrierId, carrierCallId, ownNumber }: CarriedCall,
): StreamCarrier {
  return {
    farEnd: { type: "carrier", carrierId, carrierCallId },
    press: async (keys, streamUrls) => (await carriersOf(ownerId, carrierId)).press(carrierCallId, keys, streamUrls),
    transfer: async (to) => (await carriersOf(ownerId, carrierId)).transfer({ carrierCallId, ownNumber }, to),
    hangUp: async () => (await carriersOf(ownerId, carrierId, { hangsUp: true })).hangUp(carrierCallId),
  };
}
