import { isRtcp } from "@parley/shared/media/rtp-packet";
import { byteRate } from "../byte-rate.ts";

/** A browser sends 14 KiB a second, each packet counted as 200 bytes more. */
const RATE = { perSecond: 256 * 1024, burst: 512 * 1024 };
const PACKET_BYTES = 200;
/** A browser's audio has one source; the library keeps state for each. */
const SOURCES_MAX = 8;
const RTP_HEADER_BYTES = 12;
/** Where the sender's source stands (RFC 3550, sections 5.1 and 6.4). In a sender's report, the time follows it. */
const [SOURCE_IN_RTP, SOURCE_IN_RTCP] = [8, 4];

/** Tells what no browser sends, so that its sender's call can end before packets wait for us. */
interface BrowserLimits {
  /** @returns whether this packet of RTP or RTCP is beyond the limits */
  isExceededByPacket(packet: Uint8Array): boolean;
  /** @returns whether this message on a data channel is beyond the limits */
  isExceededByMessage(bytes: number): boolean;
}

export function browserLimits(now = () => performance.now()): BrowserLimits {
  const isTooMuch = byteRate(RATE, now);
  const sources = new Set<number>();
  return {
    isExceededByPacket: (packet) => {
      if (packet.length >= RTP_HEADER_BYTES) sources.add(sourceOf(packet));
      return sources.size > SOURCES_MAX || isTooMuch(PACKET_BYTES + packet.length);
    },
    isExceededByMessage: (bytes) => isTooMuch(PACKET_BYTES + bytes),
  };
}

function sourceOf(packet: Uint8Array): number {
  const [, second = 0] = packet;
  return new DataView(packet.buffer, packet.byteOffset).getUint32(isRtcp(second) ? SOURCE_IN_RTCP : SOURCE_IN_RTP);
}
