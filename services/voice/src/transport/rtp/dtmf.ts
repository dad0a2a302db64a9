import type { RtpPacket } from "@parley/shared/media/rtp-packet";

/** The keys in the order of their events (RFC 4733, section 3.2). */
export const KEYS = "0123456789*#ABCD";

/** In steps of the clock, five seconds: packets that are later belong to a stream whose timestamps start over. */
const LATE_MAX = 40_000;

/** A key by its newest packet. */
interface Pressed {
  ssrc: number;
  key: string;
  sequence: number;
  timestamp: number;
  /** The timestamp that it began with, or that its newest segment did. */
  start: number;
  /** In steps of the clock. */
  duration: number;
  isOver: boolean;
}

/**
 * Reads the keys from the telephone events of a stream (RFC 4733). A key is reported with the first packet that reports it, as any of
 * its packets may be lost. A packet of a key before the newest one is late.
 */
export function keyReader(): (packet: RtpPacket) => string | null {
  let current: Pressed | null = null;
  return ({ ssrc, sequence, timestamp, payload }) => {
    const key = payload.length >= 4 ? KEYS[payload[0] as number] : undefined;
    const lateBy = current?.ssrc === ssrc ? (current.timestamp - timestamp) | 0 : -1;
    if (key === undefined || (lateBy > 0 && lateBy < LATE_MAX)) return null;
    const [, flags = 0, high = 0, low = 0] = payload;
    const duration = (high << 8) | low;
    const packet = { ssrc, key, sequence, timestamp, start: timestamp, duration, isOver: flags >= 0x80 };
    const isSame = current !== null && (lateBy === 0 || continues(current, packet));
    // A segment that begins has lasted for less than the one before.
    if (isSame && current && duration >= current.duration) packet.start = current.start;
    if (isSame && current?.isOver) packet.isOver = true;
    current = packet;
    return isSame ? null : key;
  };
}

/**
 * Whether a packet with a later timestamp reports the same key. It should not, but the timestamps of some telephones grow with each packet
 * of a key. A long key comes in segments, each of which begins where the one before ends (RFC 4733, section 2.5.1.3). A key that is pressed
 * again begins after a pause.
 */
function continues(current: Pressed, packet: Pressed): boolean {
  if (packet.ssrc !== current.ssrc || packet.key !== current.key) return false;
  // The end is sent three times.
  if (current.isOver) return packet.isOver && packet.sequence === ((current.sequence + 1) & 0xffff);
  const after = (packet.timestamp - current.start) | 0;
  return after > 0 && after <= Math.max(current.duration, packet.duration);
}

/** How a peer reports a key: in its audio stream (RFC 4733) or by signaling (SIP INFO). Some do both. */
type KeySource = "audio" | "signaling";

/** How far apart the two reports of a key may be: the second may come when the key is released, or be repeated after a loss. */
const REPORTS_APART_MAX_MS = 5_000;
/** The most keys whose second report is awaited. */
const AWAITED_MAX = 64;

/**
 * Passes on each key once, even if the peer reports it from both sources. Reports are paired, because the same key may be pressed
 * several times in a row.
 */
export function keysOnce(
  pressed: (key: string) => void,
  now = () => performance.now(),
): (source: KeySource, key: string) => void {
  /** The keys that were reported from one source so far. */
  let awaited: { source: KeySource; key: string; at: number }[] = [];
  return (source, key) => {
    const at = now();
    awaited = awaited.filter((other) => at - other.at <= REPORTS_APART_MAX_MS).slice(-AWAITED_MAX + 1);
    const first = awaited.findIndex((other) => other.key === key && other.source !== source);
    if (first >= 0) return void awaited.splice(first, 1);
    awaited.push({ source, key, at });
    pressed(key);
  };
}
