import { expect, test } from "bun:test";
import { type Asked, isAwaited, readAgainAfter } from "./follow.ts";

const ENDED = "2026-01-31T09:30:00.000Z";
const LATER = "2026-01-31T10:00:00.000Z";
const at = (minutes: number) => Date.parse(ENDED) + minutes * 60_000;
const conversation = (changed = {}) => ({
  conversation_status: "COMPLETED",
  updated_at: ENDED,
  conversation_analysis: null,
  ...changed,
});
const analyzed = { conversation_analysis: [{}] };
const asked: Asked = { atMs: at(29), before: ENDED };

test.each([
  ["is live, which events tell of", conversation({ conversation_status: "IN_PROGRESS" }), at(600), undefined, false],
  ["has just ended", conversation(), at(1), undefined, true],
  ["ended long ago", conversation(), at(10), undefined, false],
  ["is analyzed", conversation(analyzed), at(1), undefined, false],
  ["is to be analyzed again", conversation(analyzed), at(30), asked, true],
  ["was analyzed again", conversation({ ...analyzed, updated_at: LATER }), at(31), asked, false],
  ["waits for an analysis in vain", conversation(analyzed), at(40), asked, false],
])("a conversation that %s is read again as long as something new may come", (_, shown, nowMs, request, isRead) => {
  expect(readAgainAfter(shown, nowMs, request) !== false).toBe(isRead);
});

test("an analysis is awaited until the conversation has changed, and not for ever", () => {
  const awaited = (updatedAt: string, minutes: number) => isAwaited(updatedAt, at(minutes), asked);
  expect([awaited(ENDED, 30), awaited(LATER, 30), awaited(ENDED, 40)]).toEqual([true, false, false]);
});
