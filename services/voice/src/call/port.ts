import type { ClientCall, ClientResult, TestSetup } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { CallEnd } from "../store/calls.ts";
import type { FarEnd, Leg, LegListener } from "../transport/leg.ts";

/**
 * Takes a call from a transport and holds it to its end. Resolves before the other party is connected, so that a transport can
 * answer whoever asked for the call.
 * @throws ServiceError before `connect` is called: rate_limited (the owner has its maximum number of calls), condition (the agent lacks a
 * model, a voice or a provider's credential; the detail names it), not_found or forbidden (the agent), unavailable (this process
 * stops, or a service is down). The transport refuses the call with it. No conversation is left behind in progress.
 */
export type StartCall = (call: CallRequest, connect: Connect) => Promise<CallUnderWay>;

/** Four hours. No call is longer, so a caller who never leaves, such as another machine, does not cost its owner without end. */
export const CALL_SECONDS_MAX = 14_400;

/** Who speaks with which agent; the part that the transport knows. */
export interface CallRequest {
  ownerId: string;
  agentId: string;
  channel: Channel;
  /** A UUID chosen before, such as in the answer to the request for a web call; absent: a new one. */
  conversationId?: string | undefined;
  /** Values for the variables in prompt and greeting. */
  dynamicVariables?: Readonly<Record<string, unknown>> | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  isTestCall?: boolean | undefined;
  /** Set if the call is a test's: nobody else is called in it, and no figures or events come of it. */
  test?: TestSetup | undefined;
  /** Whether the caller retries if the call could not begin, and finally ends its conversation. Otherwise that happens here. */
  isAskedAgain?: boolean | undefined;
  /** How another process hangs up if this one dies before `connect` has returned; absent: the other party is not reached yet. */
  farEnd?: FarEnd | undefined;
  /** Takes back a call that was `unreached`, so that it can be tried again with the same conversation. Without it, such a call fails. */
  takeBack?: ((error: NotConnected) => Promise<void>) | undefined;
  /** The draft of the agent that the call tries; absent or null for the agent itself. */
  draftId?: string | null | undefined;
  /** The version of the agent; absent or null: the one that its conversation begins with, or has begun with. */
  agentVersion?: number | null | undefined;
  /** The newest version, of a call that is only checked. */
  latestVersion?: boolean | undefined;
  /** Seconds after the connection at which the call is hung up; absent: CALL_SECONDS_MAX. */
  maxDurationSeconds?: number | undefined;
  /** Whether to leave the agent's message if a machine answers; absent: hangs up. */
  leavesMessage?: boolean | undefined;
  /** Called with what is said and what the agent does as it happens, for live captions. Must not throw. */
  watch?: ((news: CallNews) => void) | undefined;
  /** Called when the agent begins to connect the user elsewhere. Must not throw. */
  transferring?: (() => void) | undefined;
  /** Whether `watch` learns of tool calls too, which have what the agent's owner keeps from callers. */
  tellsTools?: boolean | undefined;
  /** Makes calls of client tools; absent: nobody does. */
  client?: CallClient | undefined;
}

/** The page or app at the other end. Nothing here throws. */
export interface CallClient {
  /** Whether it makes calls now. */
  isThere(): boolean;
  /** Hands a call over. @returns false if that is not possible */
  hand(call: ClientCall): boolean;
  /** Tells it that a result is not used, or not waited for anymore. */
  refuse(toolCallId: string, detail: string): void;
  /** Learns from now on what results it gives, and when it is gone. */
  listen(to: { gave(result: ClientResult): void; left(): void }): void;
}

export type Channel =
  | { type: "WEB" }
  | { type: "DAILY"; roomUrl: string; roomName: string }
  | {
      type: "TELEPHONY";
      callingType: "INBOUND" | "OUTBOUND";
      /** E.164. */
      toMobileNumber: string;
      /** E.164; absent if withheld. */
      fromMobileNumber?: string | undefined;
      telephonyProvider?: "TWILIO" | "PLIVO" | undefined;
    };

/**
 * Connects the other party: answers a ringing call, or dials and waits for an answer. Called once, when everything else is ready. The
 * listener may be told about events from then on, even before the leg is returned.
 * @param signal aborted when the call ends first
 * @param reachedBy stores how another process hangs up if this one dies before the leg is returned; never rejects
 * @throws NotConnected
 */
export type Connect = (
  listener: LegListener,
  signal: AbortSignal,
  reachedBy: (farEnd: FarEnd) => Promise<void>,
) => Promise<Leg>;

/** The other party could not be connected. */
export class NotConnected extends Error {
  override readonly name = "NotConnected";
  constructor(
    /**
     * `unreached`: nobody's phone has rung, and another try may reach it. `left`: whoever answered hung up before the agent was on the
     * line.
     */
    readonly how: "no_answer" | "busy" | "cancelled" | "failed" | "unreached" | "left",
    /** One sentence for the conversation's notes. */
    readonly note: string,
  ) {
    super(note);
  }
}

export interface CallUnderWay {
  conversationId: string;
  /** Settles when the call is over and stored; never rejects. */
  ended: Promise<CallEnd>;
  /** Ends the call from our side, such as for the DELETE of a web call. */
  hangUp(): void;
}

export type CallNews =
  /** What the agent does; `speaking` while it can be heard. */
  | { type: "state"; state: "listening" | "thinking" | "speaking" }
  /** What the user says; each text replaces the previous one until one is final. */
  | { type: "user"; text: string; isFinal: boolean }
  /** How much of the reply has been heard so far. */
  | { type: "agent"; text: string; isFinal: boolean }
  /** A tool that the model calls; `arguments` is a JSON object. */
  | { type: "tool_call"; toolCallId: string; name: string; arguments: string }
  /** What the model is told of it in the same turn. */
  | { type: "tool_result"; toolCallId: string; result: string; isError: boolean };

/** The version that a call keeps until it begins: the newest one is that of its creation; null: the one that is published then. */
export function askedVersion(
  { agentVersion, latestVersion }: { agentVersion?: number | undefined; latestVersion?: boolean | undefined },
  checked: { agentVersion?: number | undefined },
): number | null {
  return (latestVersion ? checked.agentVersion : agentVersion) ?? null;
}
