import type { RtpPacket } from "@parley/shared/media/rtp-packet";

interface Reorder {
  receive(packet: RtpPacket, nowMs: number): void;
  /** Gives up on packets for which later ones have waited too long. Called at least every 20 ms. */
  expire(nowMs: number): void;
}

/** @param lost how many packets before it did not arrive in time */
type Ordered = (packet: RtpPacket, lost: number) => void;

/** How long a packet waits for earlier ones. A packet in order never waits. */
const WAIT_MAX_MS = 60;
/** Packets further ahead or behind may belong to a stream that starts over: it does if two in a row do (RFC 3550, appendix A.1). */
const AHEAD_MAX = 3_000;
const BEHIND_MAX = 100;
const HELD_MAX = 64;

/** Puts the packets of a stream in order and drops duplicate and late ones. */
export function reorder(to: Ordered): Reorder {
  const held = new Map<number, { packet: RtpPacket; at: number }>();
  let source: number | null = null;
  let expected = 0;
  /** The source before, whose packets are late by now. */
  let left: { source: number | null; at: number } | null = null;
  /** The number that would follow the last packet that was too far away. */
  let suspected: number | null = null;

  const deliver = (packet: RtpPacket, lost: number) => {
    expected = (packet.sequence + 1) & 0xffff;
    to(packet, lost);
    const next = held.get(expected);
    if (!next) return;
    held.delete(expected);
    deliver(next.packet, 0);
  };

  const giveUpGap = () => {
    const nearest = [...held.values()].reduce((a, b) =>
      distance(expected, a.packet.sequence) < distance(expected, b.packet.sequence) ? a : b,
    );
    held.delete(nearest.packet.sequence);
    deliver(nearest.packet, distance(expected, nearest.packet.sequence));
  };

  const startOver = (packet: RtpPacket, nowMs: number) => {
    // What waits is older.
    while (held.size > 0) giveUpGap();
    if (packet.ssrc !== source) left = { source, at: nowMs };
    source = packet.ssrc;
    suspected = null;
    deliver(packet, 0);
  };

  return {
    receive: (packet, nowMs) => {
      if (packet.ssrc === left?.source && nowMs - left.at < WAIT_MAX_MS) return;
      const ahead = distance(expected, packet.sequence);
      const isFar = ahead > AHEAD_MAX || ahead < -BEHIND_MAX;
      if (packet.ssrc !== source || (isFar && packet.sequence === suspected)) return startOver(packet, nowMs);
      suspected = isFar ? (packet.sequence + 1) & 0xffff : null;
      if (ahead < 0 || isFar) return;
      if (ahead === 0) return deliver(packet, 0);
      if (!held.has(packet.sequence)) held.set(packet.sequence, { packet, at: nowMs });
      if (held.size > HELD_MAX) giveUpGap();
    },
    expire: (nowMs) => {
      while (held.values().some(({ at }) => nowMs - at >= WAIT_MAX_MS)) giveUpGap();
    },
  };
}

/** How far `to` is ahead of `from`; negative if it is behind. */
function distance(from: number, to: number): number {
  const ahead = (to - from) & 0xffff;
  return ahead < 0x8000 ? ahead : ahead - 0x1_0000;
}
