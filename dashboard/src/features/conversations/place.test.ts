import { expect, test } from "bun:test";
import { placeOf } from "./place.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

test("a message is where its first word is in the recording, which begins when the call is answered", () => {
  const call = { created_at: at(0), answered_at: at(12) };
  expect(placeOf({ timestamp: at(30), started_at: at(25.7) }, call)).toBeCloseTo(13.7);
});

test("a message whose beginning was not measured is where it ends, and none is before the recording", () => {
  expect(placeOf({ timestamp: at(30) }, { created_at: at(10) })).toBe(20);
  expect(placeOf({ timestamp: at(5) }, { created_at: at(0), answered_at: at(12) })).toBe(0);
});
