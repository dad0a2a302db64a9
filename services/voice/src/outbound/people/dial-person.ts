import { NotConnected } from "../../call/port.ts";
import type { DialPerson } from "../../call/warm/people.ts";
import type { OutboundContext } from "../context.ts";
import { RING_SECONDS, type RingPerson } from "./ring-person.ts";

type Ways = Pick<OutboundContext, "carrierOfNumber" | "numbersOf" | "dialTrunk"> & { ringPerson: RingPerson };

/**
 * Calls the people of warm transfers: from our number in the call, or else the agent's first number, over the carrier of that number.
 * Calls come in before there is a way to make them, which is told then (`use`).
 */
export function personDialer() {
  let ways: Ways | null = null;
  const dial: DialPerson = async ({ to, ...call }, ...connect) => {
    const line = ways && (await lineOf(ways, call));
    if (!ways || !line)
      throw new NotConnected(
        "failed",
        "A person is called from a number of the agent's, which has none with a carrier",
      );
    const { ownerId } = call;
    const { provider, carrierId, from } = line;
    if (provider !== "SIP") return ways.ringPerson({ ownerId, carrierId, provider, from, to }, ...connect);
    const dialed = { ownerId, carrierId, toMobileNumber: to, fromMobileNumber: from, ringSeconds: RING_SECONDS };
    return ways.dialTrunk(dialed, () => {}, ...connect);
  };
  return {
    dial,
    use: (given: Ways) => {
      ways = given;
    },
  };
}

async function lineOf(ways: Ways, { ownerId, agentId, from }: Omit<Parameters<DialPerson>[0], "to">) {
  const carrier = from === undefined ? null : await ways.carrierOfNumber(ownerId, from);
  if (from !== undefined && carrier) return { from, ...carrier };
  const [first] = await ways.numbersOf(ownerId, agentId);
  const ofFirst = first === undefined ? null : await ways.carrierOfNumber(ownerId, first);
  return first !== undefined && ofFirst ? { from: first, ...ofFirst } : null;
}
