import { expect, test } from "bun:test";
import fc from "fast-check";
import { readRtp, writeRtp } from "./rtp-packet.ts";

const packet = fc.record({
  payloadType: fc.constantFrom(0, 8, 101),
  marker: fc.boolean(),
  sequence: fc.integer({ min: 0, max: 0xffff }),
  timestamp: fc.integer({ min: 0, max: 0xffff_ffff }),
  ssrc: fc.integer({ min: 0, max: 0xffff_ffff }),
  payload: fc.uint8Array({ maxLength: 400 }),
});

test("what is written is read as the same packet", () => {
  fc.assert(fc.property(packet, (given) => expect(readRtp(writeRtp(given))).toEqual(given)));
});

test("sources, extension and padding are no payload", () => {
  const bytes = Uint8Array.of(
    0xb1,
    0,
    0,
    1,
    0,
    0,
    0,
    2,
    0,
    0,
    0,
    3, // version 2, padding, extension, one source
    9,
    9,
    9,
    9, // the source
    0xbe,
    0xde,
    0,
    1,
    7,
    7,
    7,
    7, // an extension of one word
    1,
    2,
    3, // payload
    0,
    2, // padding
  );
  expect(readRtp(bytes)?.payload).toEqual(Uint8Array.of(1, 2, 3));
});

test.each([
  ["too short", new Uint8Array(11)],
  ["of another version", new Uint8Array(20)],
  ["RTCP", Uint8Array.of(0x80, 200, ...new Uint8Array(20))],
  ["with more padding than bytes", Uint8Array.of(0xa0, ...new Uint8Array(19), 200)],
  ["with an extension beyond its end", Uint8Array.of(0x90, ...new Uint8Array(11), 0xbe, 0xde, 0xff, 0xff)],
])("a packet that is %s is not read", (_what, bytes) => {
  expect(readRtp(bytes)).toBeNull();
});

test("arbitrary bytes are read or refused, and never throw", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void readRtp(bytes)));
});
