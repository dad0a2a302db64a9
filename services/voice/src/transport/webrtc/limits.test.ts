import { expect, test } from "bun:test";
import { browserLimits } from "./limits.ts";

function packet(source = 1, length = 172): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.set([0x80, 111]);
  bytes.writeUInt32BE(source, 8);
  return bytes;
}

/** A sender report of RTCP (RFC 3550, section 6.4.1). */
function senderReport(source: number, seconds: number): Buffer {
  const bytes = Buffer.alloc(28);
  bytes.set([0x80, 200, 0, 6]);
  bytes.writeUInt32BE(source, 4);
  bytes.writeUInt32BE(seconds, 8);
  return bytes;
}

/** Limits whose time moves when a test says so. */
function limiting() {
  let now = 0;
  return {
    ...browserLimits(() => now),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("a browser stays within the limits for as long as it sends 50 packets a second", () => {
  const { isExceededByPacket, pass } = limiting();
  for (let sent = 0; sent < 10_000; sent++) {
    expect(isExceededByPacket(packet())).toBeFalse();
    pass(20);
  }
});

test("ten seconds of audio that arrive at once are within the limits", () => {
  const { isExceededByPacket } = limiting();
  for (let sent = 0; sent < 500; sent++) expect(isExceededByPacket(packet())).toBeFalse();
});

test("a flood of packets or of messages is beyond the limits", () => {
  const packets = limiting();
  expect(Array.from({ length: 3_000 }, () => packets.isExceededByPacket(packet())).at(-1)).toBeTrue();
  const messages = limiting();
  expect(Array.from({ length: 3_000 }, () => messages.isExceededByMessage(1)).at(-1)).toBeTrue();
  expect(limiting().isExceededByMessage(1024 * 1024)).toBeTrue();
});

test("a browser has at most eight sources of audio", () => {
  const { isExceededByPacket } = limiting();
  for (let source = 0; source < 8; source++) expect(isExceededByPacket(packet(source))).toBeFalse();
  expect(isExceededByPacket(packet(7))).toBeFalse();
  expect(isExceededByPacket(packet(8))).toBeTrue();
});

test("a browser that reports what it sends every few seconds is within the limits for hours", () => {
  const { isExceededByPacket, pass } = limiting();
  for (let seconds = 0; seconds < 10_000; seconds += 5) {
    expect(isExceededByPacket(packet())).toBeFalse();
    expect(isExceededByPacket(senderReport(1, seconds))).toBeFalse();
    pass(5_000);
  }
});

test("sources that a browser only reports about count too", () => {
  const { isExceededByPacket } = limiting();
  for (let source = 0; source < 8; source++) expect(isExceededByPacket(senderReport(source, 1))).toBeFalse();
  expect(isExceededByPacket(senderReport(8, 1))).toBeTrue();
});
