import { expect, test } from "bun:test";
import { audibleAfter, medianOf, partsOf } from "./waits.ts";

const LATENCY = { end_of_turn: 500, transcript: 120, first_word: 800, first_audio: 1_000, audible: 1_020 };

test("the parts of a wait are durations with the names of what took them", () => {
  expect(partsOf(LATENCY).map(({ label, ms }) => `${label} ${ms}`)).toEqual([
    "End of turn 500",
    "Model 300",
    "Voice 200",
    "Sending 20",
  ]);
  expect(partsOf({ ...LATENCY, transcript: 650 }).map(({ label }) => label)).toContain("Transcription");
});

test("the parts of a wait add up to the figure that is shown for its turn", () => {
  for (const latency of [
    LATENCY,
    { ...LATENCY, transcript: 650 },
    { first_audio: 640, audible: 660 },
    { first_word: 90 },
  ]) {
    const sum = partsOf(latency).reduce((total, { ms }) => total + ms, 0);
    expect(sum).toBe(audibleAfter({ latency }) ?? -1);
  }
});

test("a median of two values is their mean", () => {
  expect([[], [300], [200, 400], [1_000, 100, 300], [400, 100, 200, 1_000]].map(medianOf)).toEqual([
    null,
    300,
    300,
    300,
    300,
  ]);
});
