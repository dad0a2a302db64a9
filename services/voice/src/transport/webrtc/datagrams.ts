import { byteRate } from "../byte-rate.ts";

/** Browsers send 50 packets of audio a second, and acknowledge captions. Each datagram counts as 200 bytes more. */
const AUDIO = { perSecond: 64 * 1024, burst: 128 * 1024 };
const DATA = { perSecond: 16 * 1024, burst: 64 * 1024 };
const DATAGRAM_BYTES = 200;
/** A browser's audio has one source; werift keeps state for each. */
const SOURCES_MAX = 8;
const RTP_HEADER_BYTES = 12;

/**
 * Bounds a browser's datagrams before they are decrypted and parsed.
 * @param dropped counts those that are too many
 * @returns tells whether a datagram, except of STUN, is used
 */
export function datagramFilter(
  dropped: (reason: "too_much") => void,
  now = () => performance.now(),
): (datagram: Uint8Array) => boolean {
  const isTooMuchAudio = byteRate(AUDIO, now);
  const isTooMuchData = byteRate(DATA, now);
  const sources = new Set<number>();

  const isOfFewSources = (datagram: Uint8Array) => {
    const source = new DataView(datagram.buffer, datagram.byteOffset).getUint32(8);
    if (sources.size < SOURCES_MAX) sources.add(source);
    return sources.has(source);
  };

  return (datagram) => {
    const isAudio = isRtp(datagram);
    if (!isAudio && !isDtls(datagram)) return false;
    if (!(isAudio ? isTooMuchAudio : isTooMuchData)(DATAGRAM_BYTES + datagram.length))
      return !isAudio || isOfFewSources(datagram);
    dropped("too_much");
    return false;
  };
}

/** Kinds of datagrams on one port (RFC 7983). */
function isDtls([first = 0]: Uint8Array): boolean {
  return first >= 20 && first <= 63;
}

/** Not RTCP (RFC 5761): a call needs none, and a report can ask for thousands of packets again. */
function isRtp(datagram: Uint8Array): boolean {
  const [first = 0, second = 0] = datagram;
  if (first < 128 || first > 191 || datagram.length < RTP_HEADER_BYTES) return false;
  return second < 192 || second > 223;
}
