import type { CallSignals, Unanswered } from "../../call/signals.ts";
import type { CarrierEnd } from "../../carriers/carrier.ts";
import { endPersonCall, findPersonCall, type PersonCall, storePersonRings } from "../../store/person-calls.ts";
import type { AwaitedStreams } from "../../transport/media-stream/awaited-streams.ts";
import type { OutboundContext } from "../context.ts";
import { AWAITED_MS } from "./ring-person.ts";

/** What carriers' callbacks need of calls to persons. */
export interface PersonCalls {
  /** Null for an id that is not of such a call. */
  find(callId: string): Promise<PersonCall | null>;
  /**
   * The person answered, and the carrier asks what to play, perhaps again.
   * @returns the WebSockets to stream the call's audio to: the first that leads to the process that waits for it; null to hang up
   */
  answer(callId: string, carrierCallId: string): Promise<readonly string[] | null>;
  /** The carrier reports that the call has ended. */
  ended(call: PersonCall, end: CarrierEnd): Promise<void>;
}

export interface PersonCallsContext extends Pick<OutboundContext, "db" | "clock"> {
  awaited: Pick<AwaitedStreams, "addresses">;
  signals: Pick<CallSignals, "tellUnanswered">;
}

export function personCalls({ db, clock, awaited, signals }: PersonCallsContext): PersonCalls {
  return {
    find: (callId) => findPersonCall(db, callId),
    answer: async (callId, carrierCallId) => {
      const call = await findPersonCall(db, callId);
      // The process that waited may have died, and the carrier asks again and again.
      if (!call || call.isOver || clock.now().getTime() - call.createdAt.getTime() > AWAITED_MS) return null;
      await storePersonRings(db, call, carrierCallId);
      return awaited.addresses({ ...call, dialect: call.provider === "PLIVO" ? "plivo" : "twilio" });
    },
    ended: async (call, { how }) => {
      await endPersonCall(db, call);
      await signals.tellUnanswered(call, UNANSWERED[how]);
    },
  };
}

/** For a call whose audio has not been connected. */
const UNANSWERED: Readonly<Record<CarrierEnd["how"], Unanswered>> = {
  completed: "left",
  busy: "busy",
  no_answer: "no_answer",
  cancelled: "cancelled",
  failed: "failed",
};
