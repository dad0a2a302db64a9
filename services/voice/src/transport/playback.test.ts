import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { FRAME_SAMPLES, type Pcm } from "../audio/pcm.ts";
import { playback } from "./playback.ts";

const ramp = (samples: number, from = 1) => Int16Array.from({ length: samples }, (_, at) => from + at);

test("audio of any length is played in frames, in order and without gaps", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 12 }), (lengths) => {
      const player = playback();
      const total = lengths.reduce((sum, length) => sum + length, 0);
      let from = 1;
      for (const length of lengths) {
        player.play(ramp(length, from));
        from += length;
      }
      expect(player.queuedSamples()).toBe(total);
      const played = frames(player).flatMap(({ frame }) => [...frame]);
      expect(played.slice(0, total)).toEqual([...ramp(total)]);
      expect(played.slice(total).every((sample) => sample === 0)).toBeTrue();
      expect(played.length % FRAME_SAMPLES).toBe(0);
      expect(player.heardSamples()).toBe(total);
      expect(player.queuedSamples()).toBe(0);
    }),
  );
});

test("a mark is reached with the frame that ends the audio before it", () => {
  const player = playback();
  player.play(ramp(FRAME_SAMPLES));
  player.mark("first");
  player.play(ramp(FRAME_SAMPLES + 1));
  player.mark("second");
  player.mark("third");
  expect(frames(player).map(({ reached }) => reached)).toEqual([["first"], [], ["second", "third"]]);
});

test("a mark with nothing before it is reached immediately", () => {
  const player = playback();
  player.mark("now");
  expect(player.nextFrame()?.reached).toEqual(["now"]);
});

test("cleared audio is never played, and its marks are never reached", () => {
  const player = playback();
  player.play(ramp(3 * FRAME_SAMPLES));
  player.mark("end");
  player.nextFrame();
  player.clear();
  expect(player.nextFrame()).toBeNull();
  expect(player.heardSamples()).toBe(FRAME_SAMPLES);
  player.play(ramp(FRAME_SAMPLES));
  expect(frames(player)).toHaveLength(1);
});

test("audio in pieces of one sample is kept in as few arrays as audio in long ones", () => {
  const player = playback();
  const before = arraysNow();
  for (const sample of ramp(20_000)) player.play(Int16Array.of(sample));
  expect(arraysNow() - before).toBeLessThan(100);
  const played = frames(player).flatMap(({ frame }) => [...frame]);
  expect(played.slice(0, 20_000)).toEqual([...ramp(20_000)]);
});

test("audio beyond ten minutes is dropped", () => {
  const player = playback();
  for (let minute = 0; minute < 12; minute++) player.play(new Int16Array(16_000 * 60));
  expect(player.queuedSamples()).toBe(16_000 * 600);
});

function frames(player: ReturnType<typeof playback>): { frame: Pcm; reached: string[] }[] {
  const all = [];
  for (let next = player.nextFrame(); next; next = player.nextFrame()) all.push(next);
  return all;
}

function arraysNow(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts.Int16Array ?? 0;
}
