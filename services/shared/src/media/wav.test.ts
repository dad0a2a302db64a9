import { expect, test } from "bun:test";
import { readWav, wavHeader } from "./wav.ts";

const SAMPLES = Int16Array.of(1, -2, 3, -4);
const BYTES = new Uint8Array(SAMPLES.buffer);

test.each([8, undefined])("what is written is read as the same audio, with a length of %p", (length) => {
  const form = { samplesPerSecond: 8_000, channels: 2 };
  const file = Buffer.concat([wavHeader(form, length), BYTES]);
  expect(readWav(file)).toEqual({ ...form, samples: SAMPLES });
});

test("other parts of a file are skipped, and what is cut off is dropped", () => {
  const header = Buffer.from(wavHeader({ samplesPerSecond: 16_000, channels: 1 }, 100));
  const note = Buffer.concat([Buffer.from("LIST\u0003\0\0\0abc\0", "latin1")]);
  const file = Buffer.concat([header.subarray(0, 36), note, header.subarray(36), BYTES.subarray(0, 5)]);
  expect(readWav(file)?.samples).toEqual(Int16Array.of(1, -2));
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["a text", Buffer.from("RIFFed by nobody, and no WAVE at all")],
  ["samples before their form", Buffer.from("RIFF\0\0\0\0WAVEdata\u0002\0\0\0ab", "latin1")],
  ["a form that is cut off", Buffer.from("RIFF\0\0\0\0WAVEfmt \u0010\0\0\0ab", "latin1")],
])("%s is not a WAV file", (_what, bytes) => {
  expect(readWav(bytes)).toBeNull();
});
