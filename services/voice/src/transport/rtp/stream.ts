import { isPublicAddress, parseAddress } from "@parley/shared/egress/address";
import type { Law } from "@parley/shared/media/g711";
import { type RtpPacket, readRtp, writeRtp } from "@parley/shared/media/rtp-packet";
import type { LegListener } from "../leg.ts";
import { type RtpAudio, rtpAudio } from "./audio.ts";
import { telephoneCodec } from "./codec.ts";
import { keyReader, keysOnce } from "./dtmf.ts";
import { bindRtpSocket, type PortRange } from "./ports.ts";
import { SRTP_KEY_BYTES, type Srtp, srtp } from "./srtp.ts";

/** What both sides agreed on. */
export interface RtpMedia {
  law: Law;
  payloadType: number;
  /** The payload type of telephone events; null if the peer has none. */
  keysType: number | null;
  /** The address that the peer announces, until its packets show the real one (symmetric RTP). */
  address: string;
  port: number;
  /** The key and salt that the peer encrypts with; null for plain RTP. */
  remoteKey: Uint8Array | null;
  /** False while the peer has put the call on hold: playback waits. */
  peerListens: boolean;
}

/** Telephone audio over a UDP port of its own. */
export interface RtpStream extends Omit<RtpAudio, "use" | "receive"> {
  port: number;
  /** The key and salt that we encrypt with, if we do. */
  localKey: Uint8Array;
  /** Whether the peer and we encrypt. */
  isSecure(): boolean;
  /**
   * Begins, or applies a new agreement: the peer may have another address from now on.
   * @param from the IP address that signaled it
   */
  agree(media: RtpMedia, from: string): void;
  /** The peer has reported a key by signaling; it may report the same one in its audio. */
  signaled(key: string): void;
}

export interface RtpOptions {
  hostname: string;
  ports: PortRange;
  /** Counts packets that are not used, by reason. */
  dropped(reason: "malformed" | "unauthentic" | "stranger" | "unknown_type" | "too_much"): void;
}

const NO_SOUND = new Uint8Array();
/** How long we send to a peer that was never heard: no longer, so that nobody can aim a stream at others. */
const UNSEEN_MAX_MS = 15_000;

/** @throws ServiceError unavailable if no port is free */
export async function openRtpStream(
  options: RtpOptions,
  to: Pick<LegListener, "heard" | "held" | "pressed" | "reached" | "sending">,
): Promise<RtpStream> {
  const keyOf = keyReader();
  const press = keysOnce(to.pressed);
  let media: RtpMedia | null = null;
  let agreedAt = 0;
  let mayAim = false;
  /** Where the peer may send from: what it announces, or, behind NAT, where its signaling comes from. */
  let sources: string[] = [];
  const localKey = crypto.getRandomValues(new Uint8Array(SRTP_KEY_BYTES));
  let cipher: Srtp | null = null;
  /** The source of the audio: keys of another one have numbers of their own. */
  let source: number | null = null;
  let peer: { address: string; port: number } | null = null;

  const isPeer = (port: number, address: string) => peer?.address === address && peer.port === port;

  const receive = (bytes: Uint8Array, port: number, address: string) => {
    if (!media) return;
    const packet = cipher ? cipher.read(bytes) : readRtp(bytes);
    if (!packet) return options.dropped(cipher ? "unauthentic" : "malformed");
    const isKey = packet.payloadType === media.keysType;
    if (!isKey && packet.payloadType !== media.payloadType) {
      // Comfort noise, for example, is part of the sequence: what follows must not wait for it.
      if (isPeer(port, address) && packet.ssrc === source) audio.receive({ ...packet, payload: NO_SOUND });
      return options.dropped("unknown_type");
    }
    // At these addresses, too, another may send first; packets from the announced port are the peer's, whatever came before.
    if (address === media.address && port === media.port) peer = { address, port };
    if (!peer && sources.includes(plain(address))) peer = { address, port };
    if (!isPeer(port, address)) return options.dropped("stranger");
    const key = isKey ? keyOf(packet) : null;
    if (key !== null) press("audio", key);
    // The socket may use its memory again for the next packet. A key's packet is part of the sequence, but has no sound.
    if (!isKey) source = packet.ssrc;
    if (packet.ssrc === source) audio.receive({ ...packet, payload: isKey ? NO_SOUND : packet.payload.slice() });
  };

  const socket = await bindRtpSocket(options.hostname, options.ports, receive);

  const send = (packet: RtpPacket) => {
    if (!media || (!peer && (!mayAim || performance.now() - agreedAt > UNSEEN_MAX_MS))) return;
    const { address, port } = peer ?? media;
    try {
      socket.send(cipher ? cipher.write(packet) : writeRtp(packet), port, address);
    } catch {
      // The network refuses the address; the call ends when nothing is heard from there.
    }
  };

  const audio = rtpAudio({ send, dropped: options.dropped }, to);

  return {
    ...audio,
    port: socket.port,
    localKey,
    isSecure: () => cipher !== null,
    agree: (agreed, from) => {
      mayAim = isOfSamePlace(agreed.address, plain(from));
      sources = [plain(agreed.address), plain(from)];
      const isOnHold = !agreed.peerListens;
      if (isOnHold === (media?.peerListens ?? true)) to.held?.(isOnHold);
      const moved = media?.address !== agreed.address || media?.port !== agreed.port;
      media = agreed;
      if (!agreed.remoteKey) cipher = null;
      else if (cipher) cipher.rekey(agreed.remoteKey);
      else cipher = srtp(localKey, agreed.remoteKey);
      audio.use(telephoneCodec(agreed.law, agreed.payloadType), agreed.peerListens, agreed.keysType);
      if (!moved) return;
      agreedAt = performance.now();
      peer = null;
    },
    signaled: (key) => press("signaling", key),
    close: () => {
      audio.close();
      socket.close();
    },
  };
}

/**
 * Whether we may send to an announced address before anything came from there. A peer on the internet, behind NAT or not, cannot aim
 * our packets at a private network of ours.
 */
function isOfSamePlace(announced: string, from: string): boolean {
  return isPublicAddress(announced) || !isPublicAddress(from);
}

/** The one spelling of an address: descriptions may write out the zeros of IPv6, and a socket of both families maps IPv4. */
function plain(address: string): string {
  return parseAddress(address.replace(/^::ffff:(?=\d+\.)/i, ""))?.toString() ?? address;
}
