import type { Logger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { CallKey } from "../../store/calls.ts";
import type { FarEnd, Leg } from "../../transport/leg.ts";
import type { CommonParts } from "../held-call.ts";
import type { LiveCalls } from "../live-calls.ts";
import type { CallRequest, Connect } from "../port.ts";
import type { Transcript } from "../transcript.ts";
import { checkTransfer } from "../transfer.ts";
import type { Ears } from "./utterances.ts";

export interface PeopleContext {
  /** Calls a person for the user of a call; absent: nobody can be called. */
  dialPerson?: DialPerson;
  /** Why no call may be connected to a number in E.164 form; null if one may. */
  denialOf(mobileNumber: string): string | null;
  /** Counts a transfer; absent: none are limited. @throws ServiceError condition if the owner's policy does not allow it */
  transferring?(ownerId: string, mobileNumber: string): Promise<void>;
  /** Counts how long a person was on the line, as far as that is more than a transfer counts. */
  transferred?(ownerId: string, seconds: number): Promise<void>;
  live: Pick<LiveCalls, "reachedBy">;
  clock: PassingTime;
  log: Logger;
}

/**
 * Calls a person from a number of the owner's.
 * @param agentId the agent whose numbers count if the call has none
 * @param from our number in the user's call; undefined if that is no telephone call
 * @throws NotConnected, ServiceError
 */
export type DialPerson = (
  call: { ownerId: string; agentId: string; from: string | undefined; to: string },
  ...connect: Parameters<Connect>
) => ReturnType<Connect>;

/**
 * How people are called for the user of a call.
 * @param ears undefined: nobody hears what the two say
 */
export function peopleFor(
  { clock, log, dialPerson, denialOf, transferring, transferred, live }: PeopleContext,
  { agentId, channel }: CallRequest,
  key: CallKey,
  said: Pick<Transcript, "append">,
  ears: Ears | undefined,
): CommonParts["person"] {
  if (!dialPerson) return undefined;
  const { ownerId } = key;
  let answeredAt = 0;
  const reachedBy = async (user: Leg, farEnd: FarEnd | null) => {
    const ends = [user.farEnd?.() ?? null, farEnd].filter((each) => each !== null);
    await live
      .reachedBy(key, ends.length > 0 ? { type: "several", ends } : null)
      .catch((err) => log.warn({ err }, "could not store that a person is called"));
  };
  return {
    partsFor: (user) => ({
      ...{ clock, log },
      dial: async (to, listener, signal) => {
        await checkTransfer({ denialOf, transferring: (number) => transferring?.(ownerId, number) }, to);
        const call = { ownerId, agentId, from: ownNumber(channel), to };
        const leg = await dialPerson(call, listener, signal, (farEnd) => reachedBy(user, farEnd));
        answeredAt = clock.now();
        await reachedBy(user, leg.farEnd?.() ?? null);
        return leg;
      },
    }),
    bridging: {
      ears,
      said: (role, text) => said.append(role, text),
      over: () => {
        transferred?.(ownerId, (clock.now() - answeredAt) / 1_000).catch((err) =>
          log.warn({ err }, "could not count how long a person was on the line"),
        );
      },
    },
  };
}

function ownNumber(channel: CallRequest["channel"]): string | undefined {
  if (channel.type !== "TELEPHONY") return undefined;
  return channel.callingType === "INBOUND" ? channel.toMobileNumber : channel.fromMobileNumber;
}
