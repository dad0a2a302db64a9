import { expect, test } from "bun:test";
import { SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { incomingAudio } from "./incoming-audio.ts";
import { reorder } from "./rtp/reorder.ts";

/** Seconds of audio that a second may bring, so that a slow machine does not matter. */
const GENEROUS = 20;

function hearing() {
  let samples = 0;
  let dropped = 0;
  const audio = incomingAudio(
    { aheadMaxSamples: SAMPLES_PER_SECOND, dropped: () => dropped++ },
    { heard: (frame) => (samples += frame.length) },
  );
  return { ...audio, seconds: () => samples / SAMPLES_PER_SECOND, dropped: () => dropped };
}

test("a peer that leaves out most of its packets is heard in real time, and not for all of its gaps", () => {
  const heard = hearing();
  const ordered = reorder((_packet, lost) => {
    heard.lost(lost * 320);
    heard.hear(new Int16Array(320));
  });
  for (let at = 0; at < 1_000; at++) {
    const packet = { payloadType: 0, marker: false, timestamp: 0, ssrc: 1, payload: new Uint8Array() };
    ordered.receive({ ...packet, sequence: (at * 26) & 0xffff }, at * 100);
    ordered.expire(at * 100 + 60);
  }
  expect(heard.seconds()).toBeLessThan(GENEROUS);
  expect(heard.dropped()).toBeGreaterThan(0);
});

test("a gap is as long as what is missing", () => {
  const heard = hearing();
  heard.hear(new Int16Array(320));
  heard.lost(3_200);
  heard.hear(new Int16Array(320));
  expect(heard.seconds()).toBe(3_840 / SAMPLES_PER_SECOND);
});
