import { expect, test } from "bun:test";
import { oggWriter } from "@parley/shared/media/ogg-writer";
import fc from "fast-check";
import { OggError, readOggOpus } from "./ogg.ts";

const FRAME = 320;

function write(packets: readonly Uint8Array[]): Uint8Array {
  const file = oggWriter({ channels: 1, samplesPerSecond: 16_000, leadSamples: 104 });
  const head = file.head();
  const pages = packets.map((packet) => file.add(packet, FRAME) ?? new Uint8Array());
  return Buffer.concat([head, ...pages, file.end()]);
}

test("what is written is read again, packet by packet, whatever their lengths", () => {
  const packet = fc.uint8Array({ minLength: 0, maxLength: 700 });
  fc.assert(
    fc.property(fc.array(packet, { maxLength: 130 }), (packets) => {
      const { leadSeconds, packets: read } = readOggOpus(write(packets));
      expect(leadSeconds).toBeCloseTo(0.0065, 5);
      expect([...read].map((each) => Buffer.from(each).toString("hex"))).toEqual(
        packets.map((each) => Buffer.from(each).toString("hex")),
      );
    }),
    { numRuns: 30 },
  );
});

test("packets of exactly 255 bytes, and of several times that, end where they end", () => {
  const packets = [255, 510, 1, 0, 254].map((length) => new Uint8Array(length).fill(7));
  expect([...readOggOpus(write(packets)).packets].map(({ length }) => length)).toEqual([255, 510, 1, 0, 254]);
});

test("a file that is not Ogg Opus is refused, and no bytes make the reader fail in any other way", () => {
  expect(() => readOggOpus(new Uint8Array())).toThrow("without Opus audio");
  expect(() => readOggOpus(Buffer.from("ID3 an mp3"))).toThrow("not an Ogg file");
  const file = write([new Uint8Array(300)]);
  expect(() => [...readOggOpus(file.subarray(0, -20)).packets]).toThrow("cut off");
  fc.assert(
    fc.property(fc.nat(file.length - 1), fc.nat(255), (at, byte) => {
      const broken = file.slice();
      broken[at] = byte;
      try {
        Array.from(readOggOpus(broken).packets);
      } catch (error) {
        expect(error).toBeInstanceOf(OggError);
      }
    }),
    { numRuns: 300 },
  );
});

test("a packet longer than Opus allows is refused, however many pages it spans", () => {
  const page = Buffer.concat([Buffer.alloc(27), Buffer.alloc(255, 255), Buffer.alloc(255 * 255)]);
  page.write("OggS", 0);
  page.writeUInt8(255, 26);
  expect(() => readOggOpus(page)).toThrow("an invalid Opus packet");
});
