import type { RtpPacket } from "@parley/shared/media/rtp-packet";

const KEYS = "0123456789*#ABCD";

/** In steps of the clock, five seconds: packets that are later belong to a stream whose timestamps start over. */
const LATE_MAX = 40_000;

/**
 * Reads the keys from the telephone events of a stream (RFC 4733). A key is reported with the first packet that reports it, as any of
 * its packets may be lost. A packet of a key before the newest one is late.
 */
export function keyReader(): (packet: RtpPacket) => string | null {
  let current: { ssrc: number; timestamp: number } | null = null;
  return ({ ssrc, timestamp, payload }) => {
    const key = payload.length >= 4 ? KEYS[payload[0] as number] : undefined;
    const lateBy = current?.ssrc === ssrc ? (current.timestamp - timestamp) | 0 : -1;
    if (key === undefined || (lateBy >= 0 && lateBy < LATE_MAX)) return null;
    current = { ssrc, timestamp };
    return key;
  };
}
