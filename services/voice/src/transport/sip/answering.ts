import { ServiceError } from "@parley/shared/errors";
import type { Leg, LegListener } from "../leg.ts";
import type { Calls } from "./calls.ts";
import { challenger, type Proof } from "./challenger.ts";
import { type Dialog, dialogOfInvited, newTag } from "./dialog.ts";
import type { Credentials } from "./digest.ts";
import { addressIn, readUri, type SipUri, tagOf } from "./messages/address.ts";
import { bodyOf, isBodyRequired, SDP } from "./messages/body.ts";
import { identitiesOf } from "./messages/caller.ts";
import { responseTo } from "./messages/derived-messages.ts";
import { cseqOf, headerOf, type SipRequest } from "./messages/message.ts";
import { type Agreed, agree, answer, offer } from "./messages/sdp.ts";
import { ALLOW, SUPPORTED } from "./session.ts";
import { type Refreshes, takesUpdates, wantedRefreshes } from "./session-timer.ts";
import type { Target } from "./sockets.ts";
import type { Incoming } from "./transactions.ts";

/** A call that waits for an answer: one of `accept` and `refuse` ends it, unless the caller gives up first. */
export interface Invite {
  called: SipUri;
  /** The callee that the caller dialed; a proxy may have redirected the call. */
  to: SipUri | null;
  /** Whom the caller claims to be, best first; empty if that is withheld. */
  identities: readonly SipUri[];
  callId: string;
  source: Target;
  /** Aborted when the caller gives up before an answer. */
  cancelled: AbortSignal;
  /** Whether the caller shows credentials at all. */
  hasCredentials: boolean;
  /** What `hasShown` has found of the credentials that the caller shows; null before, and if it shows none. */
  proof(): Proof | null;
  /** Whether the caller has shown these credentials; if not, they are asked for, and the caller's next try is another invite. */
  hasShown(credentials: Credentials & { realm: string }): boolean;
  ring(): void;
  /**
   * Whether the caller is where its packets say that it is: it has opened a connection, or it has answered a challenge. The sender of a
   * datagram may be forged.
   */
  isThere(): boolean;
  /**
   * Answers, and returns the call when the caller has confirmed it: until then, nothing was said to whoever it is.
   * @param givenUp ends the call if it is not confirmed yet
   * @throws ServiceError unavailable if there is no room for its audio; condition if the caller has given up, or does not confirm
   */
  accept(to: LegListener, givenUp?: AbortSignal): Promise<Leg>;
  refuse(status: number, reason: string): void;
  /** Refuses a stranger: the answer is not repeated, because its address may be forged. */
  refuseOnce(status: number, reason: string): void;
}

interface Answering {
  /** An INVITE that begins a call. */
  invited(incoming: Incoming): void;
  /** A CANCEL. */
  cancelled(incoming: Incoming): void;
}

type Headers = Record<string, string | string[]>;

/** Answers calls: checks the request, then leaves the decision to `decide`. @param answered counts the calls by the status of their answer */
export function answering(
  calls: Calls,
  decide: (invite: Invite) => void,
  answered: (status: number) => void,
): Answering {
  /** The effect of a CANCEL, for each unanswered call. */
  const ringing = new Map<string, () => void>();
  const challenges = challenger(() => Date.now());

  const invited = (incoming: Incoming) => {
    const { request, from, answer: reply, answerOnce } = incoming;
    const key = inviteKey(incoming);
    const toTag = newTag();
    let isAnswered = false;
    const count = (status: number) => {
      if (!isAnswered) answered(status);
      isAnswered = true;
    };
    const refuse = (status: number, reason: string) => {
      ringing.delete(key);
      count(status);
      reply(responseTo(request, status, reason, { toTag }));
    };
    const refuseStranger = (status: number, reason: string, headers: Headers = {}) => {
      ringing.delete(key);
      count(status);
      answerOnce(responseTo(request, status, reason, { toTag, headers }));
    };
    const wanted = readWanted(request, from, toTag);
    if ("refusal" in wanted) return refuseStranger(...wanted.refusal);
    const { called, dialog, agreed, refreshed } = wanted;
    const gaveUp = new AbortController();
    ringing.set(key, () => {
      refuse(487, "Request Terminated");
      gaveUp.abort();
    });
    const shown = headerOf(request, "authorization");
    let proof: Proof | null = null;
    reply(responseTo(request, 100, "Trying"));

    decide({
      called,
      to: readUri(addressIn(request, "to")?.uri ?? ""),
      identities: identitiesOf(request),
      callId: dialog.callId,
      source: from,
      cancelled: gaveUp.signal,
      hasCredentials: shown !== "",
      proof: () => proof,
      hasShown: (credentials) => {
        const asker = { method: "INVITE", from: from.address };
        proof = shown === "" ? null : challenges.check(shown, asker, credentials);
        if (proof === "right") return true;
        const asked = challenges.challenge(credentials.realm, from.address, proof === "stale");
        refuseStranger(401, "Unauthorized", { "www-authenticate": asked });
        return false;
      },
      isThere: () => from.protocol !== "UDP" || proof === "right",
      ring: () => {
        if (!ringing.has(key)) return;
        reply(responseTo(request, 180, "Ringing", { toTag, headers: { contact: calls.contact(from) } }));
      },
      refuse,
      refuseOnce: (status, reason) => refuseStranger(status, reason),
      accept: async (to, givenUp) => {
        const rtp = await calls.openAudio(to);
        if (!ringing.delete(key)) {
          rtp.close();
          throw new ServiceError("condition", "The caller hung up");
        }
        if (agreed) rtp.agree(agreed, from.address);
        count(200);
        const session = calls.begin(dialog, rtp, to, {
          refreshes: refreshed.refreshes,
          takesUpdates: takesUpdates(request),
        });
        const local = calls.describe(rtp);
        const body = agreed ? answer(local, bodyOf(request, SDP), agreed) : offer(local);
        const headers = {
          contact: calls.contact(from),
          allow: ALLOW,
          supported: SUPPORTED,
          ...refreshed.headers,
          "content-type": SDP,
        };
        const confirmed = session.answer(incoming, responseTo(request, 200, "OK", { toTag, headers, body }));
        if (givenUp?.aborted) session.lose();
        givenUp?.addEventListener("abort", session.lose);
        const isConfirmed = await confirmed;
        givenUp?.removeEventListener("abort", session.lose);
        if (!isConfirmed) throw new ServiceError("condition", "The caller did not confirm the call");
        return session.leg;
      },
    });
  };

  return {
    invited,
    cancelled: (incoming) => {
      const { request, answer: reply, answerOnce } = incoming;
      const cancel = ringing.get(inviteKey(incoming));
      if (!cancel) return answerOnce(responseTo(request, 481, "Call/Transaction Does Not Exist"));
      reply(responseTo(request, 200, "OK"));
      cancel();
    },
  };
}

interface Wanted {
  called: SipUri;
  dialog: Dialog;
  /** Null: the caller leaves the offer to us. */
  agreed: Agreed | null;
  refreshed: { refreshes: Refreshes | null; headers: Record<string, string> };
}

function readWanted(
  request: SipRequest,
  from: Target,
  toTag: string,
): Wanted | { refusal: [number, string, Headers?] } {
  const called = readUri(request.uri);
  if (!called) return { refusal: [416, "Unsupported URI Scheme"] };
  const required = request.headers.get("require")?.filter((name) => name.toLowerCase() !== SUPPORTED) ?? [];
  if (required.length > 0) return { refusal: [420, "Bad Extension", { unsupported: required }] };
  const dialog = dialogOfInvited(request, from, toTag);
  if (!dialog) return { refusal: [400, "Contact and a tag in From are required"] };
  const offered = bodyOf(request, SDP);
  if (offered === "" && isBodyRequired(request)) return { refusal: [415, "Unsupported Media Type", { accept: SDP }] };
  const agreed = offered === "" ? null : agree(offered);
  if (!agreed && offered !== "") return { refusal: [488, "Not Acceptable Here"] };
  const refreshed = wantedRefreshes(request);
  if ("minSeconds" in refreshed)
    return { refusal: [422, "Session Interval Too Small", { "min-se": String(refreshed.minSeconds) }] };
  return { called, dialog, agreed, refreshed };
}

/** A CANCEL names its INVITE by call, tag and number, and comes from the same address: others may choose the same names. */
function inviteKey({ request, from }: Incoming): string {
  return `${from.address} ${headerOf(request, "call-id")} ${tagOf(request, "from")} ${cseqOf(request)?.number}`;
}
