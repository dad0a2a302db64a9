import { expect, test } from "bun:test";
import { datagramFilter } from "./datagrams.ts";

const DTLS = 22;
const [RTP, OPUS, SENDER_REPORT, FEEDBACK] = [0x80, 111, 200, 205];

function datagram(first: number, second: number, source = 1, length = 300): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt8(first, 0);
  bytes.writeUInt8(second, 1);
  bytes.writeUInt32BE(source, 8);
  return bytes;
}

/** A filter whose time moves when a test says so. */
function filtering() {
  let [now, dropped] = [0, 0];
  const isUsed = datagramFilter(
    () => dropped++,
    () => now,
  );
  return {
    isUsed,
    pass: (ms: number) => {
      now += ms;
    },
    /** How many of so many equal ones are used. */
    used: (count: number, bytes: Buffer) => Array.from({ length: count }).filter(() => isUsed(bytes)).length,
    dropped: () => dropped,
  };
}

test("a browser's audio is used for as long as it sends 50 packets a second", () => {
  const { isUsed, pass, dropped } = filtering();
  for (let sent = 0; sent < 10_000; sent++) {
    expect(isUsed(datagram(RTP, OPUS))).toBeTrue();
    pass(20);
  }
  expect(dropped()).toBe(0);
});

test("beyond a burst, audio and data are dropped and counted, each on its own", () => {
  const { used, pass, dropped } = filtering();
  expect(used(10_000, datagram(RTP, OPUS))).toBe(262);
  expect(used(10_000, datagram(DTLS, 254))).toBe(131);
  expect(dropped()).toBe(20_000 - 393);
  pass(1_000);
  expect(used(10_000, datagram(RTP, OPUS))).toBe(131);
  expect(used(10_000, datagram(DTLS, 254))).toBe(32);
});

test("reports, unknown kinds and packets without a whole header are not used", () => {
  const { isUsed } = filtering();
  for (const report of [SENDER_REPORT, FEEDBACK]) expect(isUsed(datagram(RTP, report))).toBeFalse();
  for (const first of [0, 19, 64, 127, 192, 255]) expect(isUsed(datagram(first, OPUS))).toBeFalse();
  expect(isUsed(Buffer.from([RTP, OPUS]))).toBeFalse();
  expect(isUsed(Buffer.alloc(0))).toBeFalse();
});

test("a browser has at most eight sources of audio", () => {
  const { isUsed } = filtering();
  const used = Array.from({ length: 100 }, (_, source) => isUsed(datagram(RTP, OPUS, source)));
  expect(used.filter(Boolean)).toHaveLength(8);
  expect(isUsed(datagram(RTP, OPUS, 0))).toBeTrue();
});
