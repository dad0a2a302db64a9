import { NotConnected } from "../call/port.ts";
import type { DialPerson } from "../call/prepare-call.ts";
import type { OutboundContext } from "./context.ts";

/** A phone rings for so long, as for other calls without a wish. */
const RING_SECONDS = 45;

/**
 * Calls the people of warm transfers over the SIP trunk of our number in the call.
 * Calls come in before trunks can be dialed, and are told then (`use`).
 */
export function personDialer() {
  let ways: Pick<OutboundContext, "carrierOfNumber" | "dialTrunk"> | null = null;
  const dial: DialPerson = async ({ ownerId, from, to }, ...connect) => {
    const carrier = ways && from !== undefined ? await ways.carrierOfNumber(ownerId, from) : null;
    if (!ways || !from || carrier?.provider !== "SIP")
      throw new NotConnected("failed", "A person is called only for calls to or from a number of a SIP trunk");
    const call = { ownerId, carrierId: carrier.carrierId, toMobileNumber: to, fromMobileNumber: from };
    return ways.dialTrunk({ ...call, ringSeconds: RING_SECONDS }, () => {}, ...connect);
  };
  return {
    dial,
    use: (given: NonNullable<typeof ways>) => {
      ways = given;
    },
  };
}
