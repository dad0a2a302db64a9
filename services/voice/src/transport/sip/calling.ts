import type { Leg, LegListener } from "../leg.ts";
import { withCredentials } from "./authorizing.ts";
import type { Calls } from "./calls.ts";
import { type Dialog, dialogOfInviting, newTag, type PendingInvite, pendingInvite, requestIn } from "./dialog.ts";
import type { Credentials } from "./digest.ts";
import { tagOf } from "./messages/address.ts";
import { bodyOf, SDP } from "./messages/body.ts";
import { cancelOf, responseTo } from "./messages/derived-messages.ts";
import { headerOf, headersOf, type SipRequest, type SipResponse } from "./messages/message.ts";
import { agree, offer } from "./messages/sdp.ts";
import { ALLOW, SUPPORTED } from "./session.ts";
import { grantedRefreshes, takesUpdates } from "./session-timer.ts";
import type { Target } from "./sockets.ts";

interface OutgoingCall {
  /** The URI that is called, and where its server is. */
  uri: string;
  server: Target;
  /** The value of From, without a tag. */
  from: string;
  credentials?: Credentials | undefined;
  /** Offers SRTP, and nothing else. */
  isSecure?: boolean | undefined;
  /** Gives up a call that is not answered yet. */
  signal: AbortSignal;
  ringing?(): void;
  /** Stores how another process gives up the call; each replaces the previous. Awaited before anything is sent. Must not reject. */
  inviting?(invite: PendingInvite): Promise<void>;
}

/**
 * `refused` is the SIP status: 486 and 600 busy; 408, 480 and 603 no answer; 487 given up. `isUnreached` if the server has answered
 * nothing at all, so that nobody's phone rings.
 */
export type CallAnswer = { answered: Leg } | { refused: number; reason: string; isUnreached: boolean };

interface Invited {
  request: SipRequest;
  /** The final response, whose status is at least 200. */
  response: SipResponse;
  /** The callee's description of its audio; "" if it has none. */
  description: string;
  /** Whether the server has answered anything. */
  isReached: boolean;
}

/** How long a server that has answered nothing may still answer a call that is given up, in T1. A round trip takes less. */
const ABANDONED_AFTER = 4;

export type PlaceCall = (call: OutgoingCall, to: LegListener) => Promise<CallAnswer>;

/** Places calls. @throws ServiceError unavailable if no RTP port is free */
export function calling(calls: Calls): PlaceCall {
  const { layer } = calls;

  const acknowledge = (request: SipRequest, response: SipResponse, server: Target) => {
    const dialog = dialogOfInviting(request, response, server);
    if (dialog) layer.sendAck(requestIn(dialog, "ACK"), server);
  };

  const endAtOnce = (dialog: Dialog | null) => {
    if (dialog) layer.send(requestIn(dialog, "BYE"), dialog.peer, () => {});
  };

  const invite = async (given: SipRequest, { server, signal, ringing, inviting }: OutgoingCall): Promise<Invited> => {
    const request = layer.prepare(given, server);
    await inviting?.(pendingInvite(request, null, server));
    const settled = Promise.withResolvers<SipResponse>();
    let isReached = false;
    let isProceeding = false;
    let final: SipResponse | null = null;
    let hasEarly = false;
    /** What the last one that rings has described. Some leave it out of their answer then, because it was given (183, then 200). */
    let described: { tag: string | undefined; sdp: string } | null = null;
    let isAbandoned = false;
    let abandoning: NodeJS.Timeout | undefined;
    // Before a first answer there is nothing to cancel (RFC 3261, section 9.1). One that comes too late is cancelled, too.
    const cancel = () => {
      if (isProceeding && !final) layer.send(cancelOf(request), server, () => {});
      if (!isProceeding) abandoning ??= setTimeout(abandon, ABANDONED_AFTER * layer.t1Ms);
    };
    const abandon = () => {
      if (isProceeding) return;
      isAbandoned = true;
      settled.resolve(responseTo(request, 487, "Request Terminated"));
    };
    const rings = (response: SipResponse) => {
      const sdp = bodyOf(response, SDP);
      if (sdp !== "") described = { tag: tagOf(response, "to"), sdp };
      const pending = hasEarly ? null : pendingInvite(request, response, server);
      hasEarly ||= pending?.early != null;
      if (pending?.early) void inviting?.(pending);
      ringing?.();
    };
    const earlierOf = (answer: SipResponse) => (described?.tag === tagOf(answer, "to") ? (described?.sdp ?? "") : "");
    layer.send(request, server, (response, isTheirs) => {
      isReached ||= isTheirs;
      if (response.status < 200) {
        isProceeding = true;
        if (signal.aborted) cancel();
        else if (response.status > 100) rings(response);
        return;
      }
      if (response.status < 300) acknowledge(request, response, server);
      if (response.status < 300 && isAbandoned) return endAtOnce(dialogOfInviting(request, response, server));
      // A proxy that rings several phones may hear a second one answer: that call is not ours.
      if (response.status < 300 && final && headerOf(final, "to") !== headerOf(response, "to"))
        return endAtOnce(dialogOfInviting(request, response, server));
      final = response;
      settled.resolve(response);
    });
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    const response = await settled.promise;
    clearTimeout(abandoning);
    signal.removeEventListener("abort", cancel);
    const description = bodyOf(response, SDP) || earlierOf(response);
    if (response.status >= 300 || !signal.aborted) return { request, response, description, isReached };
    endAtOnce(dialogOfInviting(request, response, server));
    return { request, response: responseTo(request, 487, "Request Terminated"), description: "", isReached };
  };

  const inviteWithCredentials = (call: OutgoingCall, first: SipRequest): Promise<Invited> => {
    let wasReached = false;
    return withCredentials(first, call.credentials, async (request) => {
      const invited = await invite(request, call);
      wasReached ||= invited.isReached;
      return { ...invited, isReached: wasReached };
    });
  };

  return async (call, to) => {
    const rtp = await calls.openAudio(to);
    try {
      const offered = inviteFor(call, calls.contact(call.server), offer(calls.describe(rtp), call.isSecure));
      const { request, response, description, isReached } = await inviteWithCredentials(call, offered);
      const dialog = response.status < 300 ? dialogOfInviting(request, response, call.server) : null;
      const agreed = dialog && agree(description);
      if (dialog && agreed && (agreed.remoteKey !== null || !call.isSecure)) {
        rtp.agree(agreed, call.server.address);
        const staysAlive = { refreshes: grantedRefreshes(response), takesUpdates: takesUpdates(response) };
        return { answered: calls.begin(dialog, rtp, to, staysAlive).leg };
      }
      endAtOnce(dialog);
      rtp.close();
      if (response.status < 300) return { refused: 488, reason: "Not Acceptable Here", isUnreached: false };
      return { refused: response.status, reason: response.reason, isUnreached: !isReached };
    } catch (error) {
      rtp.close();
      throw error;
    }
  };
}

function inviteFor({ uri, from }: OutgoingCall, contact: string, body: string): SipRequest {
  return {
    method: "INVITE",
    uri,
    headers: headersOf({
      "max-forwards": "70",
      from: `${from};tag=${newTag()}`,
      to: `<${uri}>`,
      "call-id": `${newTag()}${newTag()}`,
      cseq: "1 INVITE",
      contact,
      allow: ALLOW,
      supported: SUPPORTED,
      "content-type": SDP,
    }),
    body,
  };
}
