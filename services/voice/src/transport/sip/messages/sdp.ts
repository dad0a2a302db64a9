import { isIPv6 } from "node:net";
import { aLaw, type Law, muLaw } from "@parley/shared/media/g711";
import { parse, type SessionDescription, write } from "sdp-transform";
import type { RtpMedia } from "../../rtp/stream.ts";

/** The part of the other side's session description that we use. */
export interface Agreed extends RtpMedia {
  /** Where in the description the audio is: an answer has as many media as the offer. */
  index: number;
  /** The protocol in the peer's words; an answer repeats the offer's. */
  protocol: string;
  /** The number of the key that the peer and we encrypt with; null for plain RTP. */
  cryptoTag: number | null;
  peerSends: boolean;
}

type Media = SessionDescription["media"][number];

const LAWS: Readonly<Record<string, Law>> = { PCMU: muLaw, PCMA: aLaw };
/** Types with a fixed meaning need no rtpmap (RFC 3551, table 4). */
const FIXED: Readonly<Record<number, string>> = { 0: "PCMU", 8: "PCMA" };
const KEYS_TYPE = 101;

/** Plain RTP, or SRTP with keys in the description (RFC 4568), with feedback or without. */
const PROTOCOLS = /^RTP\/(S?)AVPF?$/;
/** The one that every implementation has. */
const CRYPTO_SUITE = "AES_CM_128_HMAC_SHA1_80";

/** The first audio that we can speak and hear, or null: G.711 over RTP or SRTP. */
export function agree(description: string): Agreed | null {
  const session = parsed(description);
  if (!session) return null;
  for (const [index, media] of session.media.entries()) {
    const [, isSecure] = PROTOCOLS.exec(media.protocol) ?? [];
    const spoken = media.type === "audio" && media.port > 0 && isSecure !== undefined ? lawOf(media) : null;
    const address = String(media.connection?.ip ?? session.connection?.ip ?? "");
    const crypto = isSecure ? cryptoOf(media) : null;
    if (!spoken || !address || (isSecure && !crypto)) continue;
    const direction = media.direction ?? session.direction ?? "sendrecv";
    // In RFC 2543, an address of zeros means hold.
    const isHeld = address === "0.0.0.0";
    return {
      ...spoken,
      index,
      protocol: media.protocol,
      remoteKey: crypto?.key ?? null,
      cryptoTag: crypto?.tag ?? null,
      keysType: keysTypeOf(media),
      address,
      port: media.port,
      peerListens: !isHeld && (direction === "sendrecv" || direction === "recvonly"),
      peerSends: direction === "sendrecv" || direction === "sendonly",
    };
  }
  return null;
}

export interface Local {
  address: string;
  port: number;
  /** The key and salt that we encrypt with, if we do. */
  localKey: Uint8Array;
  /** The same for all descriptions of a call. */
  sessionId: number;
  /** One more with each description. */
  version: number;
}

/** Offers both laws and telephone events. @param isSecure as SRTP */
export function offer(local: Local, isSecure = false): string {
  const crypto = isSecure ? [cryptoLine(1, local.localKey)] : [];
  const protocol = isSecure ? "RTP/SAVP" : "RTP/AVP";
  const types = { types: [0, 8], keysType: KEYS_TYPE };
  return written(local, [audio(local.port, { ...types, protocol, crypto, direction: "sendrecv" })]);
}

/** Answers an offer with what was agreed; its other media are refused. */
export function answer(local: Local, offered: string, agreed: Agreed): string {
  return written(
    local,
    (parsed(offered)?.media ?? []).map((media, index) =>
      index === agreed.index
        ? audio(local.port, {
            types: [agreed.payloadType],
            keysType: agreed.keysType,
            codec: agreed.law === muLaw ? "PCMU" : "PCMA",
            protocol: agreed.protocol,
            crypto: agreed.cryptoTag === null ? [] : [cryptoLine(agreed.cryptoTag, local.localKey)],
            direction: directionOf(agreed),
          })
        : { ...refused(media) },
    ),
  );
}

function directionOf({ peerListens, peerSends }: Agreed): "sendrecv" | "sendonly" | "recvonly" | "inactive" {
  if (peerListens) return peerSends ? "sendrecv" : "sendonly";
  return peerSends ? "recvonly" : "inactive";
}

interface Audio {
  types: readonly number[];
  keysType: number | null;
  /** The codec of all types; absent: what each type means. */
  codec?: string;
  protocol: string;
  crypto: NonNullable<Media["crypto"]>;
  direction: "sendrecv" | "sendonly" | "recvonly" | "inactive";
}

function audio(port: number, { types, keysType, codec, protocol, crypto, direction }: Audio): Media {
  return {
    type: "audio",
    port,
    protocol,
    ...(crypto.length > 0 && { crypto }),
    payloads: [...types, ...(keysType === null ? [] : [keysType])].join(" "),
    rtp: [
      ...types.map((payload) => ({ payload, codec: codec ?? (FIXED[payload] as string), rate: 8_000 })),
      ...(keysType === null ? [] : [{ payload: keysType, codec: "telephone-event", rate: 8_000 }]),
    ],
    fmtp: keysType === null ? [] : [{ payload: keysType, config: "0-15" }],
    ptime: 20,
    direction,
  };
}

function refused({ type, protocol, payloads }: Media): Media {
  return { type, port: 0, protocol, payloads: payloads ?? "0", rtp: [], fmtp: [] };
}

function written({ address, sessionId, version }: Local, media: Media[]): string {
  const ipVer = isIPv6(address) ? 6 : 4;
  return write({
    version: 0,
    origin: { username: "-", sessionId, sessionVersion: version, netType: "IN", ipVer, address },
    name: "Parley",
    connection: { version: ipVer, ip: address },
    timing: { start: 0, stop: 0 },
    media,
  });
}

function lawOf(media: Media): { law: Law; payloadType: number } | null {
  for (const type of String(media.payloads ?? "")
    .split(" ")
    .map(Number)) {
    const mapped = media.rtp.find(({ payload }) => payload === type);
    const codec = mapped ? nameOf(mapped) : FIXED[type];
    const law = codec && (mapped?.rate ?? 8_000) === 8_000 ? LAWS[codec] : undefined;
    if (law && type >= 0 && type <= 127) return { law, payloadType: type };
  }
  return null;
}

/** Our first key. A master key identifier, or parameters that change the packets, are not supported. */
function cryptoOf({ crypto = [] }: Media): { tag: number; key: Uint8Array } | null {
  for (const { id, suite, config, sessionConfig } of crypto) {
    if (suite !== CRYPTO_SUITE || (sessionConfig && !/^WSH=\d+$/.test(sessionConfig))) continue;
    const [, inline] = /^inline:([A-Za-z0-9+/]{40})(?:\|(?:2\^)?\d+)?$/.exec(config) ?? [];
    if (inline) return { tag: Number(id), key: Buffer.from(inline, "base64") };
  }
  return null;
}

function cryptoLine(id: number, key: Uint8Array) {
  return { id, suite: CRYPTO_SUITE, config: `inline:${Buffer.from(key).toString("base64")}` };
}

/** sdp-transform reads digits as a number. */
function nameOf({ codec }: { codec: string | number }): string {
  return String(codec).toUpperCase();
}

function keysTypeOf(media: Media): number | null {
  const mapped = media.rtp.find(({ codec, rate }) => rate === 8_000 && nameOf({ codec }) === "TELEPHONE-EVENT");
  return mapped && mapped.payload >= 0 && mapped.payload <= 127 ? mapped.payload : null;
}

function parsed(description: string): SessionDescription | null {
  try {
    const session = parse(description);
    return Array.isArray(session.media) && session.media.length <= 32 ? session : null;
  } catch {
    return null;
  }
}
