/** An RTP packet (RFC 3550, section 5.1) without its CSRC list, extension and padding. */
export interface RtpPacket {
  payloadType: number;
  /** The first packet after a silence. */
  marker: boolean;
  /** 16 bits, wraps. */
  sequence: number;
  /** 32 bits of the codec's clock, wraps. */
  timestamp: number;
  ssrc: number;
  payload: Uint8Array;
}

const VERSION = 2;
const HEADER_BYTES = 12;

/** Returns null for what is not an RTP packet, such as RTCP, STUN or noise. */
export function readRtp(bytes: Uint8Array): RtpPacket | null {
  if (bytes.length < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = view.getUint8(0);
  const second = view.getUint8(1);
  if (first >> 6 !== VERSION || isRtcp(second)) return null;
  const start = payloadStart(view, first);
  const end = payloadEnd(view, first);
  if (start === null || end === null || start > end) return null;
  return {
    payloadType: second & 0x7f,
    marker: (second & 0x80) !== 0,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: bytes.subarray(start, end),
  };
}

export function writeRtp({ payloadType, marker, sequence, timestamp, ssrc, payload }: RtpPacket): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION << 6);
  view.setUint8(1, payloadType | (marker ? 0x80 : 0));
  view.setUint16(2, sequence);
  view.setUint32(4, timestamp);
  view.setUint32(8, ssrc);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** RTCP on the same port has packet types, in the second byte, that no RTP payload type with a marker may have (RFC 5761, section 4). */
export function isRtcp(second: number): boolean {
  return second >= 192 && second <= 223;
}

function payloadStart(view: DataView, first: number): number | null {
  const afterSources = HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) === 0) return afterSources;
  if (afterSources + 4 > view.byteLength) return null;
  return afterSources + 4 + 4 * view.getUint16(afterSources + 2);
}

function payloadEnd(view: DataView, first: number): number | null {
  if ((first & 0x20) === 0) return view.byteLength;
  const padding = view.getUint8(view.byteLength - 1);
  return padding === 0 ? null : view.byteLength - padding;
}
