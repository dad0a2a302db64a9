import { expect, test } from "bun:test";
import { WavError } from "@parley/shared/media/wav";
import fc from "fast-check";
import { pcmBytes, wavFile, wavReader } from "./wav.ts";

const read = (pieces: Uint8Array[]) => {
  const reader = wavReader();
  return pieces.flatMap((piece) => [...reader(piece)]);
};

test("a WAV file is read as it was written, however it is split", () => {
  fc.assert(
    fc.property(fc.int16Array({ maxLength: 300 }), fc.array(fc.nat(40), { maxLength: 20 }), (audio, cuts) => {
      const file = wavFile(audio);
      const pieces: Uint8Array[] = [];
      let from = 0;
      for (const cut of cuts) {
        pieces.push(file.subarray(from, from + cut));
        from += cut;
      }
      expect(read([...pieces, file.subarray(from)])).toEqual([...audio]);
    }),
  );
});

test("a stream of unknown length, with further chunks in its header and two channels, is read", () => {
  const file = Buffer.from(wavFile(new Int16Array()));
  file.writeUInt16LE(2, 22);
  file.writeUInt16LE(4, 32);
  file.writeUInt32LE(0xff_ff_ff_ff, 40);
  const list = Buffer.concat([Buffer.from("LIST"), Buffer.from([3, 0, 0, 0]), Buffer.from("abc\0")]);
  const stream = Buffer.concat([file.subarray(0, 36), list, file.subarray(36), pcmBytes(Int16Array.of(1, -1, 2, -2))]);
  expect(read([stream])).toEqual([1, 2]);
});

test("another sample rate is converted", () => {
  const file = Buffer.from(wavFile(new Int16Array(2_400).fill(1_000)));
  file.writeUInt32LE(24_000, 24);
  const audio = read([file]);
  expect(audio.length).toBeWithin(1_598, 1_602);
  expect(audio.at(-1)).toBe(1_000);
});

test.each([
  ["no WAV file", Buffer.from("<html>Not found</html>")],
  ["8-bit", Buffer.from(wavFile(new Int16Array(4))).fill(8, 34, 35)],
  ["of no channel", Buffer.from(wavFile(new Int16Array(4))).fill(0, 22, 23)],
  ["of one sample a second", Buffer.from(wavFile(new Int16Array(4))).fill(0, 25, 28)],
])("what is %s is refused", (_, file) => {
  expect(() => read([file])).toThrow(WavError);
});

test.each([8_000, 11_025, 12_000, 22_050, 32_000, 44_000, 44_100, 48_000, 88_200, 176_400, 192_000])(
  "a file of %d samples a second is read",
  (rate) => {
    const file = Buffer.from(wavFile(new Int16Array(rate / 10).fill(1_000)));
    file.writeUInt32LE(rate, 24);
    expect(read([file]).length).toBeWithin(1_598, 1_603);
  },
);

test.each([8_001, 22_051, 191_999])(
  "a file of %d samples a second, which needs a filter of its own, is refused",
  (rate) => {
    const file = Buffer.from(wavFile(new Int16Array(4)));
    file.writeUInt32LE(rate, 24);
    expect(() => read([file])).toThrow(`a WAV file of ${rate} samples a second`);
  },
);

test("a header without an end is refused", () => {
  expect(() => read([wavFile(new Int16Array()).subarray(0, 36), new Uint8Array(70_000)])).toThrow(WavError);
});
