import { expect, test } from "bun:test";
import type { BatchAcceptEventsRequest } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { isUnreachable, type ReadyEvent, sendEvents } from "./send.ts";

const MIB = 1024 * 1024;
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function eventOf(payload: string): ReadyEvent {
  const now = new Date();
  const key = { ownerId: "own_1", conversationId: newUuid(), eventUuid: newUuid() };
  return {
    ...key,
    event: "conversation.completed",
    about: null,
    happenedAt: now,
    analysis: null,
    attempts: 0,
    payload,
    traceparent: TRACEPARENT,
  };
}

/** A dispatcher that refuses some payloads by their text, fails on calls with others, and may be down. */
function fakeDispatcher(away?: ErrorKind) {
  const calls: BatchAcceptEventsRequest[] = [];
  const acceptEvents = async (request: BatchAcceptEventsRequest) => {
    calls.push(request);
    if (away) throw new ServiceError(away, "away");
    if (request.events.some(({ payload }) => payload === "fail")) throw new ServiceError("internal", "failed");
    return { results: request.events.map(({ payload }) => ({ refusal: payload === "refuse" ? "no" : undefined })) };
  };
  return { calls, acceptEvents };
}

test("every event is in one call, in order and with its trace; a call has at most 25 events, and 1 MiB unless it has one event", async () => {
  const dispatcher = fakeDispatcher();
  const large = ["ü".repeat(0.25 * MIB), "x".repeat(0.4 * MIB), "x", "x".repeat(30 * MIB)];
  const events = [...large, ...Array(50).fill("x")].map(eventOf);
  expect(await sendEvents(dispatcher, events)).toEqual({ sent: events, refused: [], failed: [] });
  expect(dispatcher.calls.map((call) => call.events.length)).toEqual([3, 1, 25, 25]);
  const given = dispatcher.calls.flatMap((call) => call.events);
  expect(given.map(({ conversationId }) => conversationId)).toEqual(
    events.map(({ conversationId }) => conversationId ?? ""),
  );
  expect(new Set(given.map(({ traceparent }) => traceparent))).toEqual(new Set([TRACEPARENT]));
});

test("an event that is refused, or that makes the dispatcher fail, does not block the others", async () => {
  const events = [...Array(25).fill("x"), "fail", ...Array(24).fill("x"), "x"].map(eventOf);
  events[3] = eventOf("refuse");
  const { sent, refused, failed } = await sendEvents(fakeDispatcher(), events);
  expect(sent).toEqual(events.filter((_, at) => at !== 3 && at !== 25));
  expect(refused.map(({ event, error }) => [event, String(error)])).toEqual([[events[3], "ServiceError: no"]] as never);
  expect(failed.map(({ event, error }) => [event, String(error)])).toEqual([
    [events[25], "ServiceError: failed"],
  ] as never);
});

test("a dispatcher that does not answer the first call gets no other; one that refuses all its events does", async () => {
  const away = fakeDispatcher("unavailable");
  const events = Array.from({ length: 60 }, () => eventOf("refuse"));
  const { failed } = await sendEvents(away, events);
  expect([away.calls.length, failed.length]).toEqual([1, 25]);
  const there = fakeDispatcher();
  const { refused } = await sendEvents(there, events);
  expect([there.calls.length, refused.length]).toEqual([3, 60]);
});

test("only calls that reach no dispatcher are a reason to stop sending other owners' events", async () => {
  const outcomeOf = (away?: ErrorKind) => sendEvents(fakeDispatcher(away), [eventOf("fail"), eventOf("fail")]);
  expect(isUnreachable(await outcomeOf("unavailable"))).toBeTrue();
  // A dispatcher that takes too long may do so because of these events, and one that fails answers.
  expect(isUnreachable(await outcomeOf("deadline"))).toBeFalse();
  expect(isUnreachable(await outcomeOf())).toBeFalse();
});

test("an event alone in its call that makes the dispatcher fail does not block the calls after it", async () => {
  const events = ["fail", "x".repeat(2 * MIB), "x"].map(eventOf);
  const { sent, failed } = await sendEvents(fakeDispatcher(), events);
  expect(sent).toEqual(events.slice(1));
  expect(failed.map(({ event }) => event)).toEqual(events.slice(0, 1));
});
