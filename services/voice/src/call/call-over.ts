import { EndedBy } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Logger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { Leg } from "../transport/leg.ts";
import type { EndReason, Outcome } from "../turn/events.ts";

export interface CallOver {
  outcome: Outcome | "NO_ANSWER";
  reason: EndReason | "voicemail";
  notes: string | null;
  /** By the call's clock. */
  endedAt: number;
}

/** The end of one call, which comes once. */
interface Ending {
  ended: Promise<CallOver>;
  /** Aborted once the call is over. */
  signal: AbortSignal;
  isOver(): boolean;
  /** Notes why the call may end; the first reason stays. */
  note(reason: string): void;
  /**
   * Closes what the call has open, hangs up the leg and resolves `ended`; does nothing if the call is over.
   * @param note replaces what was noted
   */
  end(leg: Leg | null, outcome: CallOver["outcome"], reason: CallOver["reason"], note?: string): void;
}

export const REJECTED = "The agent's start webhook rejected the call";

/** The note of a conversation whose call ended for this reason; null for none. */
const NOTES: Record<CallOver["reason"], string | null> = {
  agent_ended: null,
  operator_ended: null,
  time_over: null,
  left_message: "The agent left a message on the voicemail",
  rejected: REJECTED,
  voicemail: "A voicemail answered",
  user_left: null,
  user_silent: "The user stayed silent",
  failed: "The call could not go on: nobody could be heard",
};

/** Whoever ended a call for this reason. */
export const ENDED_BY: Readonly<Record<CallOver["reason"], EndedBy>> = {
  agent_ended: EndedBy.ENDED_BY_AGENT,
  operator_ended: EndedBy.ENDED_BY_OPERATOR,
  time_over: EndedBy.ENDED_BY_SYSTEM,
  left_message: EndedBy.ENDED_BY_AGENT,
  rejected: EndedBy.ENDED_BY_SYSTEM,
  voicemail: EndedBy.ENDED_BY_SYSTEM,
  user_left: EndedBy.ENDED_BY_USER,
  user_silent: EndedBy.ENDED_BY_SYSTEM,
  failed: EndedBy.ENDED_BY_SYSTEM,
};

/** @param close closes what the call has open besides its leg */
export function endingOf(clock: PassingTime, log: Logger, close: () => void): Ending {
  const over = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<CallOver>();
  let noted: string | null = null;
  return {
    ended,
    signal: over.signal,
    isOver: () => over.signal.aborted,
    note: (reason) => {
      noted ??= reason;
    },
    end: (leg, outcome, reason, note) => {
      if (over.signal.aborted) return;
      over.abort();
      close();
      leg?.hangUp().catch((err) => log.warn({ err }, "a leg could not be hung up"));
      resolve({ outcome, reason, notes: note ?? noted ?? NOTES[reason], endedAt: clock.now() });
    },
  };
}

/** Wraps what happens in a call. */
export type Contained = <Given extends unknown[]>(work: (...given: Given) => void) => (...given: Given) => void;

/** An exception in one call ends that call only, and not the process with everyone's calls. */
export function containedIn(log: Logger, fail: (note: string) => void): Contained {
  return (work) =>
    (...given) => {
      try {
        work(...given);
      } catch (err) {
        log.error({ err }, "a call failed unexpectedly");
        fail("An unexpected error");
      }
    };
}
