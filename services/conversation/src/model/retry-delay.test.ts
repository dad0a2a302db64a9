import { expect, test } from "bun:test";
import { retryDelayMs } from "./retry-delay.ts";

const FAILED = { isRetryable: true, retryAfterMs: undefined };
const STATE = { failed: 1, leftMs: 60_000, hasNext: false };
const delay = (
  failure: Partial<typeof FAILED> | { retryAfterMs: number },
  state: Partial<typeof STATE>,
  random = 0.5,
) => retryDelayMs({ ...FAILED, ...failure }, { ...STATE, ...state }, 250, random);

test("there are three attempts, with growing waits that vary by a fifth either way", () => {
  expect(delay({}, { failed: 1 })).toBe(250);
  expect(delay({}, { failed: 2 })).toBe(1_000);
  expect(delay({}, { failed: 3 })).toBeNull();
  expect(delay({}, { failed: 2 }, 0)).toBe(800);
  expect(delay({}, { failed: 2 }, 1)).toBe(1_200);
});

test("a failure that would repeat is not retried", () => {
  expect(delay({ isRetryable: false }, {})).toBeNull();
});

test("a wait longer than the remaining time does not begin", () => {
  expect(delay({}, { leftMs: 250 })).toBeNull();
  expect(delay({ retryAfterMs: 20_000 }, { leftMs: 20_000 })).toBeNull();
});

test("Retry-After is respected, unless it is long and there is another model", () => {
  expect(delay({ retryAfterMs: 20_000 }, {})).toBe(20_000);
  expect(delay({ retryAfterMs: 10 }, {})).toBe(250);
  expect(delay({ retryAfterMs: 2_000 }, { hasNext: true })).toBe(2_000);
  expect(delay({ retryAfterMs: 2_001 }, { hasNext: true })).toBeNull();
});
