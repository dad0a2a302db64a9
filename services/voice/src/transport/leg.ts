import type { Pcm } from "../audio/pcm.ts";
import type { Dialog, PendingInvite } from "./sip/dialog.ts";

/**
 * One party's end of a call, whatever carries it: WebRTC, SIP, or a carrier's media WebSocket. A leg paces what it plays, so `play`
 * may be called with audio faster than it is heard.
 */
export interface Leg {
  /** Queues audio of any length behind what is queued. Audio that is played after `hangUp` or the end of the leg is dropped. */
  play(audio: Pcm): void;
  /** Drops what is queued and not heard; marks behind it are never reached. */
  clear(): void;
  /** Reports `reached` with this name when everything queued before it has been heard. */
  mark(name: string): void;
  /**
   * Samples of this leg's playback that were heard since it began, cleared ones not counted. Exact where the leg paces by itself, else
   * by the carrier's marks and the clock.
   */
  heardSamples(): number;
  /** Samples that are queued and not heard yet. */
  queuedSamples(): number;
  /**
   * Presses keys of the phone: 0-9, *, # and w, a pause of half a second. Playback waits meanwhile. Resolves when all are pressed.
   * @throws ServiceError condition if the other side takes no keys; what a carrier refuses it with
   */
  press(keys: string): Promise<void>;
  /** Connects the other party to an E.164 number or a SIP address and leaves the call. @throws ServiceError if the other side refuses */
  transfer(to: string): Promise<void>;
  /** Ends the leg. Does nothing if it has ended. */
  hangUp(): Promise<void>;
  /** Absent if the other side ends the leg by itself when this process dies, as browsers do. */
  farEnd?(): FarEnd;
}

/** What any process needs to end a leg whose own process is gone, as JSON. */
export type FarEnd =
  /** Those of a user and of a person whom the agent has called. */
  | { type: "several"; ends: readonly FarEnd[] }
  | { type: "carrier"; carrierId: string; carrierCallId: string }
  /** A call that a carrier was asked for, whose id there is not known. `since` is a time of ISO 8601. */
  | { type: "placed"; carrierId: string; callId: string; from: string; to: string; since: string }
  | { type: "sip"; dialog: Readonly<Dialog> }
  /** A SIP call that is not answered yet. */
  | { type: "sip_invite"; invite: PendingInvite };

/** What a leg reports, in the order in which it happens; nothing after `ended`. */
export interface LegListener {
  /** What the other party said, FRAME_SAMPLES at a time; lost audio is silence, so that time passes. */
  heard(frame: Pcm): void;
  /** A key of the phone: 0-9, *, # or A-D. */
  pressed(key: string): void;
  reached(mark: string): void;
  /** The other party has put the call on hold, so playback waits; or it continues. */
  held?(isOnHold: boolean): void;
  /**
   * Called when the next FRAME_MS go out, to be heard in this many milliseconds: a queued frame, or null. Returns what to send in its place,
   * such as the frame with a sound behind it; null is silence.
   */
  sending(frame: Pcm | null, inMs: number): Pcm | null;
  /** Once. `hung_up`: the other party left; `lost`: the connection or the other side's process is gone. */
  ended(how: "hung_up" | "lost" | "ended_by_us"): void;
}
