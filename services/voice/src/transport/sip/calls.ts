import type { LegListener } from "../leg.ts";
import type { PortRange } from "../rtp/ports.ts";
import { openRtpStream, type RtpOptions, type RtpStream } from "../rtp/stream.ts";
import { type Dialog, dialogId } from "./dialog.ts";
import { hostPort } from "./messages/address.ts";
import type { Local } from "./messages/sdp.ts";
import { type Session, type SessionParts, startSession } from "./session.ts";
import type { Target } from "./sockets.ts";
import type { Transactions } from "./transactions.ts";

/** How a call's INVITE has agreed that it stays alive. */
type StaysAlive = Pick<SessionParts, "refreshes" | "takesUpdates">;

/** The calls of a user agent, and the parts that each needs to begin. */
export interface Calls {
  layer: Transactions;
  /** @throws ServiceError unavailable if no RTP port is free */
  openAudio(to: LegListener): Promise<RtpStream>;
  /** The first description of a call's audio. */
  describe(rtp: RtpStream): Local;
  contact(peer: Target): string;
  /** From now on the call gets the requests of its dialog. */
  begin(dialog: Dialog, rtp: RtpStream, to: LegListener, staysAlive: StaysAlive): Session;
  /** Whether a call's requests go to this peer. */
  haveAt(peer: Target): boolean;
  find(callId: string, localTag: string, remoteTag: string): Session | undefined;
  /** Ends them all. */
  stop(): void;
}

interface CallsOptions {
  layer: Transactions;
  hostname: string;
  rtpPorts: PortRange;
  /** The address that peers are told to send to. */
  announced: string;
  /** Where peers reach us by the protocol of a target. */
  portOf(peer: Target): number;
  /** How long a peer may be silent before it is asked whether it is still there. */
  silentMs: number;
  dropped: RtpOptions["dropped"];
}

export function newCalls({ layer, hostname, rtpPorts, announced, portOf, silentMs, dropped }: CallsOptions): Calls {
  const sessions = new Map<string, Session>();
  const contact = (peer: Target) => {
    const transport = peer.protocol === "UDP" ? "" : `;transport=${peer.protocol.toLowerCase()}`;
    return `<sip:parley@${hostPort(announced, portOf(peer))}${transport}>`;
  };
  return {
    layer,
    openAudio: (to) => openRtpStream({ hostname, ports: rtpPorts, dropped }, to),
    describe: ({ port, localKey }) => ({ address: announced, port, localKey, sessionId: Date.now(), version: 0 }),
    contact,
    begin: (dialog, rtp, to, staysAlive) => {
      const id = dialogId(dialog.callId, dialog.localTag, dialog.remoteTag);
      const session = startSession({
        dialog,
        rtp,
        transactions: layer,
        address: announced,
        contact: contact(dialog.peer),
        to,
        ...staysAlive,
        silentMs,
        over: () => sessions.delete(id),
      });
      sessions.set(id, session);
      return session;
    },
    haveAt: ({ protocol, address, port }) =>
      sessions
        .values()
        .some(({ peer }) => peer().protocol === protocol && peer().address === address && peer().port === port),
    find: (callId, localTag, remoteTag) => sessions.get(dialogId(callId, localTag, remoteTag)),
    stop: () => {
      for (const session of [...sessions.values()]) session.lose();
    },
  };
}
