import { expect, test } from "bun:test";
import { FRAME_SAMPLES, type Pcm } from "../../audio/pcm.ts";
import { soundDetector } from "./sound.ts";

const frame = (level: number): Pcm => Int16Array.from({ length: FRAME_SAMPLES }, (_, at) => (at % 2 ? level : -level));
const FRAMES_PER_SECOND = 50;

/** How many of some seconds' frames were sound. */
function soundsIn(isSound: (audio: Pcm) => boolean, level: number, seconds: number): number {
  return Array.from({ length: seconds * FRAMES_PER_SECOND }, () => isSound(frame(level))).filter(Boolean).length;
}

test.each([0, 20, 100])("a line that hisses at %d is silent, and quiet speech on it is sound", (hiss) => {
  const isSound = soundDetector();
  expect(soundsIn(isSound, hiss, 5)).toBe(0);
  expect(isSound(frame(600))).toBe(true);
});

test("a steady noise becomes silence, and speech above it is still heard", () => {
  const isSound = soundDetector();
  soundsIn(isSound, 10, 5);
  soundsIn(isSound, 600, 30);
  expect(soundsIn(isSound, 600, 5)).toBe(0);
  expect(isSound(frame(4_000))).toBe(true);
});

test("long speech with pauses between its words stays sound", () => {
  const isSound = soundDetector();
  for (let second = 0; second < 60; second++) {
    expect(soundsIn(isSound, 2_000, 1)).toBe(FRAMES_PER_SECOND);
    isSound(frame(40));
  }
});
