import { expect, test } from "bun:test";
import { fakeTime, settle } from "../../tests/kit/fake-time.ts";
import { scriptedLeg } from "../../tests/kit/scripted-leg.ts";
import { type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { playback } from "../transport/playback.ts";
import { AHEAD_SAMPLES, queuedAudio, roomOn } from "./queued-audio.ts";

const LISTENER = {
  heard: () => {},
  pressed: () => {},
  reached: () => {},
  sending: (f: Pcm | null) => f,
  ended: () => {},
};
const seconds = (count: number) => new Int16Array(count * SAMPLES_PER_SECOND);
const newLeg = () => scriptedLeg(fakeTime(), LISTENER);

test("the calls of an owner share the audio that they queue, and each may always queue half a minute", () => {
  const queued = queuedAudio(seconds(100).length);
  const over = new AbortController();
  const [first, second] = [newLeg(), newLeg()];
  queued.shared("own_1", first, over.signal).play(seconds(90));
  queued.shared("own_1", second, new AbortController().signal).play(seconds(90));
  expect([first.queuedSamples(), second.queuedSamples()]).toEqual([seconds(90).length, AHEAD_SAMPLES]);
});

test("an owner's queued audio takes nothing from another owner, nor from the owner's calls after it", () => {
  const queued = queuedAudio(seconds(100).length);
  const over = new AbortController();
  queued.shared("own_1", newLeg(), over.signal).play(seconds(100));
  const [other, next] = [newLeg(), newLeg()];
  queued.shared("own_2", other, new AbortController().signal).play(seconds(90));
  over.abort();
  queued.shared("own_1", next, new AbortController().signal).play(seconds(90));
  expect([other.queuedSamples(), next.queuedSamples()]).toEqual([seconds(90).length, seconds(90).length]);
});

test("room on a leg is waited for until its queue has been played, or nobody waits any longer", async () => {
  const time = fakeTime();
  const queue = playback();
  const over = new AbortController();
  queue.play(seconds(1));
  expect(roomOn(queue, time, over.signal)).toBeNull();
  queue.play(seconds(30));
  const waits: string[] = [];
  void roomOn(queue, time, new AbortController().signal)?.then(() => waits.push("played"));
  void roomOn(queue, time, over.signal)?.then(() => waits.push("over"));
  await time.pass(5_000);
  expect(waits).toEqual([]);
  over.abort();
  await settle();
  expect(waits).toEqual(["over"]);
  queue.clear();
  await time.pass(1_000);
  expect(waits).toEqual(["over", "played"]);
});
