export { CarrierRefusal, CarrierUnavailable } from "@parley/shared/carriers/errors";

/**
 * A connected carrier account as calls use it. Its adapters are beside this file, one for each provider. Every request to the carrier
 * has a deadline.
 */
export interface Carrier {
  /**
   * Rings `to`. Every callback of the call has its `callId` in the URL, so `find` recognizes the call.
   * @throws CarrierRefusal, CarrierUnavailable
   */
  place(call: OutgoingCall): Promise<{ carrierCallId: string }>;
  /**
   * Returns the call that `place` began with this `callId`, if there is one. Asked before a second attempt, so that nobody is rung
   * twice.
   * @throws CarrierUnavailable when the carrier does not answer: the call may exist
   */
  find(call: PlacedCall): Promise<CarrierCall | null>;
  /** Does nothing if the call has ended. @throws CarrierRefusal, CarrierUnavailable */
  hangUp(carrierCallId: string): Promise<void>;
  /**
   * Presses keys in a call: 0-9, *, # and w, a pause of half a second.
   * @param streamUrls addresses for the call's audio afterwards, of which the carrier uses the first that continues the call; none for a
   * carrier that goes on with its stream
   * @throws CarrierRefusal, CarrierUnavailable
   */
  press(carrierCallId: string, keys: string, streamUrls: readonly string[]): Promise<void>;
  /**
   * Connects the other party to an E.164 number or a SIP address and ends our media stream.
   * @throws CarrierRefusal, CarrierUnavailable
   */
  transfer(call: TransferredCall, to: string): Promise<void>;
}

/**
 * Finds an owner's carrier with its adapter; to hang up calls, also one that is being disconnected, as after the deletion of its owner.
 * @throws ServiceError not_found, unavailable
 */
export type CarriersOf = (ownerId: string, carrierId: string, options?: { hangsUp: boolean }) => Promise<Carrier>;

interface OutgoingCall {
  ownerId: string;
  callId: string;
  /** E.164, a number of the carrier account. */
  from: string;
  /** E.164. */
  to: string;
  /** After this many seconds without an answer, the carrier reports `no_answer`. */
  ringSeconds: number;
  /** Whether the carrier reports if a machine answered. */
  detectMachine: boolean;
}

interface PlacedCall {
  callId: string;
  from: string;
  to: string;
  /** When it was first attempted; earlier calls are ignored. */
  since: Date;
}

interface TransferredCall {
  carrierCallId: string;
  /** Our number in the call, E.164: the destination sees it as the caller. */
  ownNumber: string;
}

export interface CarrierCall {
  carrierCallId: string;
  state: "queued" | "ringing" | "in_progress" | "ended";
  /** Set if the state is `ended`. */
  end: CarrierEnd | null;
}

export interface CarrierEnd {
  how: "completed" | "busy" | "no_answer" | "cancelled" | "failed";
  /** The carrier's own code and words, such as `Twilio 13224: Invalid phone number`; null if it gave none. */
  notes: string | null;
  /** Seconds between answer and end; null if the carrier does not say. */
  durationSeconds: number | null;
}

/** An event of a call, from a carrier's verified callback. May arrive late, twice, and out of order. */
export type CarrierEvent =
  | { type: "ringing"; carrierCallId: string }
  /** `machine` is null while the carrier has not reported or was not asked. */
  | { type: "answered"; carrierCallId: string; machine: boolean | null }
  /** A machine's greeting is over, and it is recording. */
  | { type: "machine_ready"; carrierCallId: string }
  | { type: "ended"; carrierCallId: string; end: CarrierEnd };

/** What carriers' callbacks need of outgoing calls. */
export interface CalledBack {
  /** Finds a call by its id alone, because a callback has nothing else. Null for an unknown call. */
  find(callId: string): Promise<{ ownerId: string; carrierId: string } | null>;
  /**
   * The callee answered, and the carrier asks what to play, perhaps twice.
   * @returns the WebSocket to stream the call's audio to, or null to hang up
   */
  answer(
    call: { ownerId: string; callId: string },
    answered: { carrierCallId: string; machine: boolean | null },
  ): Promise<MediaStream | null>;
  /** Changes the call at most once for each event. */
  report(call: { ownerId: string; callId: string }, event: CarrierEvent): Promise<void>;
}

/** The address for a call's audio. It is valid for one stream, and cannot be guessed. */
interface MediaStream {
  url: string;
}
