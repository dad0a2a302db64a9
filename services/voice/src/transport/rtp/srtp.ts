import { createCipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { type RtpPacket, readRtp, writeRtp } from "@parley/shared/media/rtp-packet";
import { type PacketNumbers, packetNumbers } from "./packet-numbers.ts";

/** Encrypts one direction of a stream and decrypts the other (RFC 3711). */
export interface Srtp {
  write(packet: RtpPacket): Uint8Array;
  /** Returns null for a packet without the peer's key, a repeated one, or one that is not RTP. */
  read(bytes: Uint8Array): RtpPacket | null;
  /** The peer uses another key from now on. */
  rekey(remote: Uint8Array): void;
}

/** AES_CM_128_HMAC_SHA1_80, which every implementation has. */
const [CIPHER, MAC] = ["aes-128-ctr", "sha1"];
const [KEY_BYTES, SALT_BYTES, MAC_KEY_BYTES, TAG_BYTES] = [16, 14, 20, 10];
/** The length of a key with its salt. */
export const SRTP_KEY_BYTES = KEY_BYTES + SALT_BYTES;
/** What each derived key is for (section 4.3.1). */
const [ENCRYPTION, AUTHENTICATION, SALTING] = [0, 1, 2];
const HEADER_BYTES = 12;
/** A peer's audio has one source. Numbers are kept for each, of the ones that had the key. */
const SOURCES_MAX = 8;

/** @param local a key and its salt, ours; @param remote likewise, the peer's */
export function srtp(local: Uint8Array, remote: Uint8Array): Srtp {
  const ours = sessionOf(local);
  let theirs = sessionOf(remote);
  let key = remote;
  return {
    write: (packet) => ours.protect(writeRtp(packet)),
    read: (bytes) => {
      const packet = theirs.unprotect(bytes);
      return packet && readRtp(packet);
    },
    rekey: (given) => {
      // A key that continues counts its packets on.
      if (Buffer.compare(given, key) === 0) return;
      key = given;
      theirs = sessionOf(given);
    },
  };
}

/** A session for one direction, because either may change its key without the other. */
function sessionOf(given: Uint8Array) {
  const [key, salt] = [given.subarray(0, KEY_BYTES), given.subarray(KEY_BYTES)];
  const encryptionKey = derived(key, salt, ENCRYPTION, KEY_BYTES);
  const macKey = derived(key, salt, AUTHENTICATION, MAC_KEY_BYTES);
  const sessionSalt = derived(key, salt, SALTING, SALT_BYTES);
  const sources = new Map<number, PacketNumbers>();

  const crypt = (payload: Uint8Array, ssrc: number, number: number) =>
    createCipheriv(CIPHER, encryptionKey, counterOf(sessionSalt, ssrc, number)).update(payload);

  const tagOf = (packet: Uint8Array, number: number) => {
    const rollovers = Buffer.alloc(4);
    rollovers.writeUInt32BE(Math.floor(number / 2 ** 16));
    return createHmac(MAC, macKey).update(packet).update(rollovers).digest().subarray(0, TAG_BYTES);
  };

  const keep = (ssrc: number, numbers: PacketNumbers, number: number) => {
    numbers.keep(number);
    if (sources.has(ssrc)) return;
    const [first] = sources.keys();
    if (sources.size === SOURCES_MAX && first !== undefined) sources.delete(first);
    sources.set(ssrc, numbers);
  };

  return {
    protect: (packet: Uint8Array): Uint8Array => {
      const { ssrc, sequence } = namesOf(packet);
      const numbers = sources.get(ssrc) ?? packetNumbers();
      const number = numbers.guess(sequence);
      keep(ssrc, numbers, number);
      const encrypted = [packet.subarray(0, HEADER_BYTES), crypt(packet.subarray(HEADER_BYTES), ssrc, number)];
      const whole = Buffer.concat(encrypted);
      return Buffer.concat([whole, tagOf(whole, number)]);
    },
    unprotect: (bytes: Uint8Array): Uint8Array | null => {
      const packet = bytes.subarray(0, Math.max(0, bytes.length - TAG_BYTES));
      const start = payloadStart(packet);
      if (start === null) return null;
      const { ssrc, sequence } = namesOf(packet);
      const numbers = sources.get(ssrc) ?? packetNumbers();
      const number = numbers.guess(sequence);
      if (numbers.isOld(number)) return null;
      if (!timingSafeEqual(tagOf(packet, number), bytes.subarray(packet.length))) return null;
      keep(ssrc, numbers, number);
      return Buffer.concat([packet.subarray(0, start), crypt(packet.subarray(start), ssrc, number)]);
    },
  };
}

/** A session's key, made of the master key (section 4.3). */
function derived(key: Uint8Array, salt: Uint8Array, label: number, bytes: number): Uint8Array {
  const counter = Buffer.alloc(KEY_BYTES);
  counter.set(salt);
  counter.writeUInt8(counter.readUInt8(7) ^ label, 7);
  return createCipheriv(CIPHER, key, counter).update(new Uint8Array(bytes));
}

/** What a packet's encryption begins with (section 4.1.1). */
function counterOf(salt: Uint8Array, ssrc: number, number: number): Uint8Array {
  const packet = Buffer.alloc(KEY_BYTES);
  packet.writeUInt32BE(ssrc, 4);
  packet.writeUIntBE(number, 8, 6);
  for (const [at, byte] of salt.entries()) packet.writeUInt8(packet.readUInt8(at) ^ byte, at);
  return packet;
}

function namesOf(packet: Uint8Array): { ssrc: number; sequence: number } {
  const view = new DataView(packet.buffer, packet.byteOffset);
  return { ssrc: view.getUint32(8), sequence: view.getUint16(2) };
}

/** Where what is encrypted begins: behind the sources and the extension. Null for what is no packet. */
function payloadStart(packet: Uint8Array): number | null {
  if (packet.length < HEADER_BYTES) return null;
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const first = view.getUint8(0);
  const sources = HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) === 0) return sources <= packet.length ? sources : null;
  const extension = sources + 4 <= packet.length ? sources + 4 + 4 * view.getUint16(sources + 2) : Number.NaN;
  return extension <= packet.length ? extension : null;
}
