import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { Connect, StartCall } from "../call/port.ts";
import type { CallSignals } from "../call/signals.ts";
import type { CallHolder } from "../call/start-call.ts";
import type { Conversations } from "../call/transcript.ts";
import type { CarriersOf } from "../carriers/carrier.ts";
import type { CallLimits } from "../store/outbound-attempts.ts";
import type { OutboundCall, Provider } from "../store/outbound-calls.ts";
import type { ExpectMediaStream } from "../transport/media-stream/media-streams.ts";
import type { CallPolicies } from "./call-policy.ts";

/** What it takes to hold a call whose carrier has connected its audio. */
export interface HoldContext {
  db: Database;
  clock: Clock;
  log: Logger;
  carriersOf: CarriersOf;
  startCall: StartCall;
  signals: Pick<CallSignals, "tell">;
}

/** What outbound calls need from the rest of the service. */
export interface OutboundContext extends HoldContext {
  limits: OutboundLimits;
  /** Prefixes that the operator denies, besides `denied-numbers.ts`. */
  deniedPrefixes: readonly string[];
  /** Absent: any number may be called, at any time. */
  policies?: CallPolicies;
  /** The carrier account of an owner's number; null if the owner does not have the number, or it has no account. */
  carrierOfNumber(ownerId: string, mobileNumber: string): Promise<{ carrierId: string; provider: Provider } | null>;
  /** The numbers that an agent calls from, in its order. @throws ServiceError not_found, forbidden */
  numbersOf(ownerId: string, agentId: string): Promise<readonly string[]>;
  /** Calls over an owner's SIP trunk, which carries the audio too. */
  dialTrunk: DialTrunk;
  checkAgent: CallHolder["check"];
  conversations: Pick<Conversations, "startConversation" | "completeConversation">;
  /** Makes the address for the audio of a call that was answered. */
  expectMedia: ExpectMediaStream;
}

interface OutboundLimits extends CallLimits {
  /** Calls of one owner that may wait. */
  queuedMax: number;
}

/**
 * Dials a call on a trunk of its owner. `ringing` is called once the other side rings.
 * @throws NotConnected
 */
export type DialTrunk = (
  call: Pick<OutboundCall, "ownerId" | "carrierId" | "toMobileNumber" | "fromMobileNumber" | "ringSeconds">,
  ringing: () => void,
  ...connect: Parameters<Connect>
) => ReturnType<Connect>;

/** How long a call may wait for its turn. */
export const QUEUED_MAX_MS = 60 * 60_000;

/** A process that dies delays calls by at most this long. */
export const JOB_LEASE_MS = 10_000;

export const QUEUES = { place: "place-calls", watch: "watch-calls", complete: "complete-calls" } as const;
