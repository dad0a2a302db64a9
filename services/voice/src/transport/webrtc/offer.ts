import { invalid, type ServiceError } from "@parley/shared/errors";
import { parse } from "sdp-transform";
import type { Direction, Transport } from "./sdp.ts";

/** A browser's offer, as far as a call is made from it. */
export interface Offer {
  transport: Transport;
  audio: { payloadType: number; direction: Direction };
  data: { port: number; messageMaxBytes: number } | null;
  /** All media in the browser's order, because each one is answered. */
  media: { use: "audio" | "data" | null; name: string | null; type: string; protocol: string; formats: string }[];
}

/** Limit for an offer, which is read at once. Browsers send 2 to 6 KB. */
const OFFER_MAX_BYTES = 16 * 1024;
/** Browsers offer audio, a data channel, and perhaps video. */
const MEDIA_MAX = 8;
const SCTP_PORT = 5_000;
/** What a browser takes in a message if it does not say so (RFC 8841, section 6.1). */
const MESSAGE_MAX_BYTES = 64 * 1024;

/**
 * Reads an offer before anything begins, so that one that can never connect leaves its call to the next offer.
 * @throws ServiceError invalid if no call can be made from the offer, saying why
 */
export function readOffer(offer: string): Offer {
  if (Buffer.byteLength(offer) > OFFER_MAX_BYTES) throw invalidOffer("it is larger than 16 KiB");
  const session = parsed(offer);
  const { media } = session;
  if (media.some(({ type, protocol }) => !type || !protocol)) throw invalidOffer("it cannot be read");
  if (media.length > MEDIA_MAX) throw invalidOffer(`it has more than ${MEDIA_MAX} media`);
  const audio = usableAudio(media);
  const codec = audio.rtp.find(({ codec, rate }) => String(codec).toLowerCase() === "opus" && rate === 48_000);
  if (!codec || !isOffered(codec.payload, audio)) throw invalidOffer("it does not offer Opus");
  if (session.icelite) throw invalidOffer("it is ICE-lite, and so is waiting for us to send first");
  const data = media.find((medium) => isData(medium) && isBundled(session, audio, medium));
  return {
    transport: transportOf(session, audio),
    audio: { payloadType: codec.payload, direction: directionOf(audio) },
    data: data ? { port: data.sctpPort ?? SCTP_PORT, messageMaxBytes: messageMaxOf(data) } : null,
    media: media.map((medium) => ({
      use: medium === audio ? "audio" : medium === data ? "data" : null,
      name: medium.mid === undefined ? null : String(medium.mid),
      type: medium.type,
      protocol: medium.protocol,
      formats: String(medium.payloads ?? "0"),
    })),
  };
}

export function invalidOffer(why: string): ServiceError {
  return invalid("", `The SDP offer cannot be answered: ${why}`);
}

type Session = ReturnType<typeof parse>;
type Media = Session["media"][number];

/** The parser keeps one fingerprint of each medium, so only those that we accept are left to it (RFC 8122, section 5). */
function parsed(offer: string): Session {
  try {
    const session = parse(offer.replaceAll(/^a=fingerprint:(?!sha-(?:256|384|512)\s).*\r?\n?/gim, ""));
    return { ...session, media: session.media ?? [] };
  } catch {
    throw invalidOffer("it cannot be read");
  }
}

function usableAudio(media: readonly Media[]): Media {
  const audio = media.filter(({ type }) => type === "audio");
  if (audio.length === 0) throw invalidOffer("it has no audio");
  const encrypted = audio.filter(({ protocol }) => /SAVPF?$/.test(protocol));
  if (encrypted.length === 0) throw invalidOffer("its audio is not encrypted (UDP/TLS/RTP/SAVPF)");
  const used = encrypted.find(
    ({ port, direction, bundleOnly }) => (port !== 0 || bundleOnly) && direction !== "inactive",
  );
  if (!used) throw invalidOffer("its audio is switched off");
  return used;
}

/** Payload types from 64 to 95 look like RTCP on the same port (RFC 5761, section 4). */
function isOffered(payloadType: number, { payloads }: Media): boolean {
  if (!(payloadType >= 0 && payloadType <= 127) || (payloadType >= 64 && payloadType <= 95)) return false;
  return String(payloads ?? "")
    .split(" ")
    .includes(String(payloadType));
}

function directionOf({ direction }: Media): Direction {
  return direction === "sendonly" || direction === "recvonly" ? direction : "sendrecv";
}

function isData({ type, protocol, port, sctpPort = SCTP_PORT }: Media): boolean {
  return type === "application" && protocol.endsWith("DTLS/SCTP") && port !== 0 && sctpPort > 0 && sctpPort < 65_536;
}

function isBundled({ groups }: Session, ...media: Media[]): boolean {
  const bundles = (groups ?? []).filter(({ type }) => type === "BUNDLE").map(({ mids }) => String(mids).split(" "));
  return bundles.some((mids) => media.every(({ mid }) => mids.includes(String(mid))));
}

function messageMaxOf({ maxMessageSize }: Media): number {
  return Number.isSafeInteger(maxMessageSize) ? Number(maxMessageSize) : MESSAGE_MAX_BYTES;
}

/** What the browser authenticates itself with: without it, no call can be connected. */
function transportOf(session: Session, audio: Media): Transport {
  const iceName = String(audio.iceUfrag ?? session.iceUfrag ?? "");
  const icePassword = String(audio.icePwd ?? session.icePwd ?? "");
  if (!ICE_NAME.test(iceName) || !ICE_PASSWORD.test(icePassword))
    throw invalidOffer("it has no ICE user name and password (a=ice-ufrag, a=ice-pwd)");
  const fingerprint = audio.fingerprint ?? session.fingerprint;
  if (!fingerprint) throw invalidOffer("it has no fingerprint of SHA-256 or stronger (a=fingerprint)");
  const hash = fingerprint.type.toLowerCase() as keyof typeof HASH_BYTES;
  if (!FINGERPRINT.test(fingerprint.hash) || fingerprint.hash.length !== 3 * HASH_BYTES[hash] - 1)
    throw invalidOffer(`its fingerprint is not one of ${hash.toUpperCase()}`);
  const setup = audio.setup ?? session.setup ?? "actpass";
  if (!isSetup(setup)) throw invalidOffer("it does not say who begins the DTLS handshake (a=setup:actpass)");
  return { iceName, icePassword, fingerprint: `${hash} ${fingerprint.hash.toUpperCase()}`, setup, candidates: [] };
}

/** RFC 8839, section 5.4. */
const ICE_NAME = /^[A-Za-z0-9+/]{4,256}$/;
const ICE_PASSWORD = /^[A-Za-z0-9+/]{22,256}$/;
const FINGERPRINT = /^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2})+$/;
const HASH_BYTES = { "sha-256": 32, "sha-384": 48, "sha-512": 64 };

function isSetup(setup: string): setup is Transport["setup"] {
  return ["actpass", "active", "passive"].includes(setup);
}
