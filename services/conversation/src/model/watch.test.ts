import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { watchModel } from "./watch.ts";

const LIMITS = { deadlineMs: 1_000, stallMs: 500, wholeMs: 10_000, charactersMax: 1_000 };

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function start() {
  const clientGone = new AbortController();
  const cutOff = new AbortController();
  const watch = watchModel(() => "ACME", LIMITS, { clientGone: clientGone.signal, cutOff: cutOff.signal });
  return { watch, clientGone, cutOff, reason: () => watch.signal.reason?.detail as string | undefined };
}

test("the stall limit applies between two pieces, and not before the first", () => {
  const stalled = start();
  jest.advanceTimersByTime(999);
  for (let piece = 0; piece < 5; piece++) {
    stalled.watch.pause();
    stalled.watch.resume();
    jest.advanceTimersByTime(499);
    expect(stalled.watch.signal.aborted).toBe(false);
  }
  jest.advanceTimersByTime(1);
  expect(stalled.reason()).toBe("The ACME model provider stopped in the middle of its answer");
});

test("time spent waiting for a slow reader does not count as the model's, but the whole call has its limit", () => {
  const { watch, reason } = start();
  watch.pause();
  jest.advanceTimersByTime(9_999);
  expect(watch.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(reason()).toBe("The ACME model provider took too long to answer");
});

test("a client that leaves, or a process that stops, ends the call with its own reason", () => {
  const left = start();
  left.clientGone.abort();
  expect(left.watch.signal.reason).toMatchObject({ kind: "cancelled" });
  const stopped = start();
  stopped.cutOff.abort();
  expect(stopped.watch.signal.reason).toMatchObject({ kind: "unavailable" });
  const gone = AbortSignal.abort();
  const none = new AbortController().signal;
  expect(watchModel(() => "ACME", LIMITS, { clientGone: gone, cutOff: none }).signal.aborted).toBe(true);
  expect(watchModel(() => "ACME", LIMITS, { clientGone: none, cutOff: gone }).signal.aborted).toBe(true);
});

test("what is left of a call when its turn ends is aborted", () => {
  const { watch, reason } = start();
  watch.done();
  expect(watch.signal.aborted).toBe(true);
  jest.advanceTimersByTime(20_000);
  expect(reason()).toBeUndefined();
});
