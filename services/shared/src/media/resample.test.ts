import { expect, test } from "bun:test";
import fc from "fast-check";
import { resampler } from "./resample.ts";

const RATES = [8_000, 16_000, 22_050, 24_000, 48_000];

test.each(RATES)("a tone keeps its pitch and loudness from 16,000 to %d samples a second", (rate) => {
  const resampled = resampler(16_000, rate)(tone(1_000, 16_000, 16_000));
  expect(resampled.length).toBeWithin(rate - 1, rate + 2);
  expect(strength(resampled, 1_000, rate)).toBeWithin(9_500, 10_500);
  expect(strength(resampled, 2_000, rate)).toBeLessThan(50);
});

test.each([22_050, 24_000, 48_000])(
  "what 16,000 samples a second cannot hold is removed on the way from %d",
  (rate) => {
    const resampled = resampler(rate, 16_000)(tone(10_000, rate, rate));
    expect(strength(resampled, 6_000, 16_000)).toBeLessThan(50);
  },
);

test("a stream sounds the same however it is split", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RATES),
      fc.constantFrom(...RATES),
      fc.int16Array({ maxLength: 600 }),
      fc.array(fc.nat(200)),
      (from, to, audio, cuts) => {
        const whole = resampler(from, to)(audio);
        const piecewise = resampler(from, to);
        const pieces = pieceUp(audio, cuts).flatMap((piece) => [...piecewise(piece)]);
        expect(pieces).toEqual([...whole]);
      },
    ),
  );
});

test("silence stays silence and a constant stays constant", () => {
  const constant = resampler(22_050, 16_000)(new Int16Array(4_000).fill(1_000));
  expect(new Set(constant.slice(100))).toEqual(new Set([1_000]));
});

function tone(hz: number, rate: number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, at) => 10_000 * Math.sin((2 * Math.PI * hz * at) / rate));
}

/** The amplitude of one frequency in the middle of the audio. */
function strength(audio: Int16Array, hz: number, rate: number): number {
  const middle = audio.slice(rate / 10, rate / 10 + rate / 2);
  let [real, imaginary] = [0, 0];
  for (const [at, sample] of middle.entries()) {
    real += sample * Math.cos((2 * Math.PI * hz * at) / rate);
    imaginary += sample * Math.sin((2 * Math.PI * hz * at) / rate);
  }
  return (2 * Math.hypot(real, imaginary)) / middle.length;
}

function pieceUp(audio: Int16Array, cuts: number[]): Int16Array[] {
  const pieces: Int16Array[] = [];
  let from = 0;
  for (const cut of cuts) {
    pieces.push(audio.slice(from, from + cut));
    from += cut;
  }
  return [...pieces, audio.slice(from)];
}
