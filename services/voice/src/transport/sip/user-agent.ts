import { networkOf } from "@parley/shared/rate-limit/network-of";
import { slidingWindows } from "@parley/shared/rate-limit/windows";
import type { PortRange } from "../rtp/ports.ts";
import type { RtpOptions } from "../rtp/stream.ts";
import { answering, type Invite } from "./answering.ts";
import { calling, type PlaceCall } from "./calling.ts";
import { newCalls } from "./calls.ts";
import { byeOfLost, cancelOfLost, type Dialog, newTag, type PendingInvite } from "./dialog.ts";
import { hostPort, tagOf } from "./messages/address.ts";
import { responseTo } from "./messages/derived-messages.ts";
import { headerOf, isRequest, type SipMessage } from "./messages/message.ts";
import { type Register, registering } from "./registering.ts";
import { ALLOW } from "./session.ts";
import { openSipSockets, type SipTls, type Target } from "./sockets.ts";
import { type Incoming, transactions } from "./transactions.ts";

export interface UserAgentOptions {
  /** Where SIP and RTP are listened on. */
  hostname: string;
  /** 0: any. */
  port: number;
  /** Absent: no SIP over TLS. */
  tls?: SipTls | undefined;
  /** PEM of the authorities that may sign servers' certificates; absent: the publicly trusted ones. */
  authorities?: string | undefined;
  rtpPorts: PortRange;
  /** What peers are told to send to; absent: `hostname`. */
  announced?: string | undefined;
  invited(invite: Invite): void;
  /** Counts the calls that arrive, by the status of their answer. */
  answered?(status: number): void;
  /** Counts input that is not used, by reason. */
  dropped(reason: Dropped): void;
  /** The estimate of a round trip, T1 of RFC 3261; absent: 500 ms. */
  t1Ms?: number;
  /** How long a connection without a call stays open after its last message; absent: 180 s. */
  idleSeconds?: number;
  /** How long a peer in a call may be silent before it is asked whether it is still there; absent: 30 s. */
  silentMs?: number;
}

export type Dropped = "malformed_sip" | "too_many_invites" | `rtp_${Parameters<RtpOptions["dropped"]>[0]}`;

export interface UserAgent {
  /** host:port, for UDP and TCP. */
  address: string;
  /** host:port, for TLS; null without. */
  tlsAddress: string | null;
  /** The same two as peers are told; null without an address that others can reach. */
  announced: { address: string; tlsAddress: string | null } | null;
  call: PlaceCall;
  register: Register;
  /** Hangs up a call of a process that is gone. The other side may see that the request comes from another address. */
  hangUpLost(dialog: Readonly<Dialog>): void;
  /** Does the same for one that was not answered yet. */
  giveUpLost(invite: PendingInvite): void;
  /** Ends what is left. */
  stop(): void;
}

/** Calls from one network; a trunk sends fewer, a scanner more. */
const INVITES_PER_SECOND = 50;
/** Networks that are remembered. */
const SOURCES_MAX = 10_000;

const SILENT_MS = 30_000;

/** Listens on all addresses, so it is not one to call. */
const EVERY_ADDRESS = ["0.0.0.0", "::"];

/** A SIP user agent (RFC 3261) for telephone audio over UDP, TCP and TLS. @throws when the address is taken */
export async function startUserAgent(options: UserAgentOptions): Promise<UserAgent> {
  const { hostname, rtpPorts, dropped } = options;
  const announced = options.announced || hostname;
  const invites = slidingWindows({ keysMax: SOURCES_MAX, windowMs: 1_000, clock: () => performance.now() });
  const isTooMany = (address: string) => invites(networkOf(address), INVITES_PER_SECOND).waitMs > 0;

  const sockets = await openSipSockets(options, {
    // Before anything about it is remembered.
    received: (message, from) =>
      isNewCall(message) && isTooMany(from.address) ? dropped("too_many_invites") : layer.received(message, from),
    unreachable: (target, why) => layer.unreachable(target, why),
    malformed: () => dropped("malformed_sip"),
    isInUse: (peer) => calls.haveAt(peer),
  });
  const portOf = ({ protocol }: Target) => (protocol === "TLS" ? sockets.tlsPort : null) ?? sockets.port;
  const layer = transactions({
    send: sockets.send,
    host: announced,
    portOf,
    malformed: () => dropped("malformed_sip"),
    requested: (incoming) => requested(incoming),
    t1Ms: options.t1Ms ?? 500,
  });
  const calls = newCalls({
    layer,
    hostname,
    rtpPorts,
    announced,
    portOf,
    silentMs: options.silentMs ?? SILENT_MS,
    dropped: (reason) => dropped(`rtp_${reason}`),
  });
  const answers = answering(calls, options.invited, (status) => options.answered?.(status));

  const requested = (incoming: Incoming) => {
    const { request, answerOnce: reply } = incoming;
    const ourTag = tagOf(request, "to");
    if (ourTag !== undefined) return requestedInCall(incoming, ourTag);
    if (request.method === "INVITE") return answers.invited(incoming);
    if (request.method === "CANCEL") return answers.cancelled(incoming);
    const extras = { toTag: newTag(), headers: { allow: ALLOW } };
    if (request.method === "OPTIONS") reply(responseTo(request, 200, "OK", extras));
    else if (request.method !== "ACK") reply(responseTo(request, 405, "Method Not Allowed", extras));
  };

  const requestedInCall = (incoming: Incoming, ourTag: string) => {
    const { request, answerOnce: reply } = incoming;
    const theirTag = tagOf(request, "from") ?? "";
    const session = calls.find(headerOf(request, "call-id"), ourTag, theirTag);
    if (session) session.requested(incoming);
    else if (request.method !== "ACK") reply(responseTo(request, 481, "Call/Transaction Does Not Exist"));
  };

  const hangUpLost = (dialog: Readonly<Dialog>) => layer.send(byeOfLost(dialog), dialog.peer, () => {});

  const addressesOf = (host: string) => ({
    address: hostPort(host, sockets.port),
    tlsAddress: sockets.tlsPort === null ? null : hostPort(host, sockets.tlsPort),
  });
  return {
    ...addressesOf(sockets.address),
    announced: EVERY_ADDRESS.includes(announced) ? null : addressesOf(announced),
    call: calling(calls),
    register: registering(calls),
    hangUpLost,
    giveUpLost: (invite) => {
      layer.send(cancelOfLost(invite), invite.peer, () => {});
      if (invite.early) hangUpLost(invite.early);
    },
    stop: () => {
      calls.stop();
      layer.stop();
      sockets.stop();
    },
  };
}

function isNewCall(message: SipMessage): boolean {
  return isRequest(message) && message.method === "INVITE" && tagOf(message, "to") === undefined;
}
