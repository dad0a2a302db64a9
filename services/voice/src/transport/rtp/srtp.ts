import { type RtpPacket, readRtp } from "@parley/shared/media/rtp-packet";
import { RtpHeader, SrtpSession } from "werift";

/** Encrypts one direction of a stream and decrypts the other (RFC 3711). */
export interface Srtp {
  write(packet: RtpPacket): Uint8Array;
  /** Returns null for a packet without the peer's key, or one that is not RTP. */
  read(bytes: Uint8Array): RtpPacket | null;
  /** The peer uses another key from now on. */
  rekey(remote: Uint8Array): void;
}

/** AES_CM_128_HMAC_SHA1_80, which every implementation has. */
const PROFILE = 1;
const KEY_BYTES = 16;
/** The length of a key with its salt. */
export const SRTP_KEY_BYTES = 30;

/** @param local a key and its salt, ours; @param remote likewise, the peer's */
export function srtp(local: Uint8Array, remote: Uint8Array): Srtp {
  const ours = sessionOf(local);
  let theirs = sessionOf(remote);
  let key = remote;
  return {
    write: ({ payload, sequence, ...header }) =>
      ours.encrypt(Buffer.from(payload), new RtpHeader({ ...header, sequenceNumber: sequence })),
    read: (bytes) => {
      try {
        return readRtp(theirs.decrypt(Buffer.from(bytes)));
      } catch {
        return null;
      }
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
function sessionOf(given: Uint8Array): SrtpSession {
  const [key, salt] = [Buffer.from(given.subarray(0, KEY_BYTES)), Buffer.from(given.subarray(KEY_BYTES))];
  const keys = { localMasterKey: key, localMasterSalt: salt, remoteMasterKey: key, remoteMasterSalt: salt };
  return new SrtpSession({ profile: PROFILE, keys });
}
