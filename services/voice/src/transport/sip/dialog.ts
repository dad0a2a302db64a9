import { randomBytes } from "node:crypto";
import { addressIn, tagOf } from "./messages/address.ts";
import { cancelOf } from "./messages/derived-messages.ts";
import { cseqOf, headerOf, headersOf, type SipRequest, type SipResponse } from "./messages/message.ts";
import type { Target } from "./sockets.ts";

/** The state that two parties share about their call (RFC 3261, section 12). */
export interface Dialog {
  callId: string;
  /** The values of From and To with their tags: ours and theirs. */
  local: string;
  remote: string;
  localTag: string;
  remoteTag: string;
  /** The URI that their requests are for. */
  remoteTarget: string;
  routes: readonly string[];
  localSequence: number;
  remoteSequence: number;
  /**
   * Where our requests go: where theirs came from, and not what Contact and Route name, which NAT may have made unreachable. A proxy
   * that wants to stay between us is where their requests come from.
   */
  peer: Target;
}

/** Ours, once an INVITE is answered. */
export function dialogOfInvited(invite: SipRequest, from: Target, localTag: string): Dialog | null {
  const contact = addressIn(invite, "contact");
  const remoteTag = tagOf(invite, "from");
  if (!contact || !remoteTag) return null;
  return {
    callId: headerOf(invite, "call-id"),
    local: `${headerOf(invite, "to")};tag=${localTag}`,
    remote: headerOf(invite, "from"),
    localTag,
    remoteTag,
    remoteTarget: contact.uri,
    routes: invite.headers.get("record-route") ?? [],
    localSequence: 0,
    remoteSequence: cseqOf(invite)?.number ?? 0,
    peer: from,
  };
}

/** Ours, once our INVITE is answered. */
export function dialogOfInviting(invite: SipRequest, answer: SipResponse, peer: Target): Dialog | null {
  const localTag = tagOf(invite, "from");
  const remoteTag = tagOf(answer, "to");
  if (!localTag || !remoteTag) return null;
  return {
    callId: headerOf(invite, "call-id"),
    local: headerOf(invite, "from"),
    remote: headerOf(answer, "to"),
    localTag,
    remoteTag,
    remoteTarget: addressIn(answer, "contact")?.uri ?? invite.uri,
    routes: (answer.headers.get("record-route") ?? []).toReversed(),
    localSequence: cseqOf(invite)?.number ?? 1,
    // Their first request may have the number 0.
    remoteSequence: -1,
    peer,
  };
}

/** What any process needs to end a call that was begun and is not answered yet, as JSON. */
export interface PendingInvite {
  /** The CANCEL. */
  uri: string;
  headers: Readonly<Record<string, readonly string[]>>;
  peer: Target;
  /** Once the phone rings, if the other side has said what a BYE needs: the call may be answered before the CANCEL arrives. */
  early: Readonly<Dialog> | null;
}

/** @param answer the last provisional answer; null before */
export function pendingInvite(invite: SipRequest, answer: SipResponse | null, peer: Target): PendingInvite {
  const { uri, headers } = cancelOf(invite);
  const early = answer && dialogOfInviting(invite, answer, peer);
  return { uri, headers: Object.fromEntries(headers), peer, early };
}

export function cancelOfLost({ uri, headers }: PendingInvite): SipRequest {
  return cancelOf({ method: "INVITE", uri, headers: headersOf(headers), body: "" });
}

/** The dialog that a request or response belongs to, as the receiver sees it. */
export function dialogId(callId: string, localTag: string, remoteTag: string): string {
  return `${callId} ${localTag} ${remoteTag}`;
}

/** The requests of a call are far fewer: it asks for a transfer, and whether the other side is still there, every 30 s at most. */
const SEQUENCE_GAP = 10_000;

/** A BYE for a call whose process is gone, so that the number of its last request is not known. */
export function byeOfLost(dialog: Readonly<Dialog>): SipRequest {
  return requestIn({ ...dialog, localSequence: dialog.localSequence + SEQUENCE_GAP }, "BYE");
}

/** The next request in the dialog. An ACK has its INVITE's number. */
export function requestIn(
  dialog: Dialog,
  method: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): SipRequest {
  if (method !== "ACK") dialog.localSequence++;
  return {
    method,
    uri: dialog.remoteTarget,
    headers: headersOf({
      "max-forwards": "70",
      from: dialog.local,
      to: dialog.remote,
      "call-id": dialog.callId,
      cseq: `${dialog.localSequence} ${method}`,
      route: dialog.routes,
      ...headers,
    }),
    body,
  };
}

export function newTag(): string {
  return randomBytes(8).toString("hex");
}
