import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { CallSignals, Unanswered } from "../../call/signals.ts";
import type { CarrierEnd } from "../../carriers/carrier.ts";
import {
  deletePersonCalls,
  endPersonCall,
  findPersonCall,
  type PersonCall,
  storePersonRings,
} from "../../store/person-calls.ts";
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
  sweep: Sweep;
}

export interface PersonCallsContext extends Pick<OutboundContext, "db" | "clock"> {
  awaited: Pick<AwaitedStreams, "addresses">;
  signals: Pick<CallSignals, "tellUnanswered">;
}

/** Longer than a call lasts: its end is reported, too. */
const KEPT_MS = 24 * 60 * 60_000;
const EVERY_MS = 60_000;
const BATCH = 1_000;

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
    sweep: {
      name: "delete-person-calls",
      everyMs: EVERY_MS,
      deletes: true,
      run: async (now, stopping) => {
        const before = new Date(now.getTime() - KEPT_MS);
        while ((await deletePersonCalls(db, before, BATCH)) === BATCH && !stopping.aborted);
      },
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
