import type { RtpPacket } from "@parley/shared/media/rtp-packet";

const KEYS = "0123456789*#ABCD";

/**
 * Reads the keys from the telephone events of a stream (RFC 4733). A key is reported with the first packet that reports it, as any of
 * its packets may be lost.
 */
export function keyReader(): (packet: RtpPacket) => string | null {
  let current: number | null = null;
  return ({ timestamp, payload }) => {
    const key = payload.length >= 4 ? KEYS[payload[0] as number] : undefined;
    if (key === undefined || timestamp === current) return null;
    current = timestamp;
    return key;
  };
}
