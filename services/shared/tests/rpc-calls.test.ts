import { afterEach, expect, setSystemTime, test } from "bun:test";
import { failureOf } from "@parley/testkit/failures";
import { type Actor, SYSTEM } from "../src/rpc/actor.ts";
import type { Call } from "../src/rpc/call.ts";
import { serveTest } from "./fixtures/serve-test.ts";

// What travels with a call from hop to hop: its deadline, request id, trace and actor.

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

afterEach(() => {
  setSystemTime();
});

test("a deadline is shorter at every hop", async () => {
  // The clock stands still, so that only the rule shortens the deadline.
  setSystemTime(new Date());
  const seen: number[] = [];
  const see = (call: Call) => seen.push((call.deadlineMs ?? 0) - Date.now());
  await using far = await serveTest({
    once: async (request, call) => {
      see(call);
      return request;
    },
  });
  await using near = await serveTest({
    once: (request, call) => {
      see(call);
      return far.client.once(request, { origin: call, timeoutMs: 60_000 });
    },
  });
  const origin = { requestId: "r", deadlineMs: Date.now() + 10_000 };
  await near.client.once({}, { origin, timeoutMs: 60_000 });
  const [first = 0, second = 0] = seen;
  expect(first).toBeLessThan(10_000);
  expect(second).toBeLessThan(first);
  expect(second).toBeGreaterThan(9_000);
});

test("a call's deadline is the earlier of its own timeout and its caller's, or the client's default", async () => {
  setSystemTime(new Date());
  const seen: (number | undefined)[] = [];
  const see = (call: Call) => seen.push(call.deadlineMs && call.deadlineMs - Date.now());
  await using served = await serveTest({
    once: async (_request, call) => {
      see(call);
      return {};
    },
    many: async function* (_request, call) {
      see(call);
      yield {};
    },
  });
  await served.client.once({}, { origin: { requestId: "r", deadlineMs: Date.now() + 10_000 }, timeoutMs: 8_000 });
  await served.client.once({});
  for await (const _message of served.client.many({}));
  expect(seen).toEqual([8_000, 5_000, undefined]);
});

test("a slow callee causes a deadline error that names it, and its call is cancelled", async () => {
  const gone = Promise.withResolvers<void>();
  await using served = await serveTest(
    {
      once: (_request, { signal }) => {
        signal.addEventListener("abort", () => gone.resolve());
        return new Promise(() => {});
      },
    },
    { peer: "prompt" },
  );
  const failure = await failureOf(served.client.once({}, { timeoutMs: 500 }));
  expect(failure).toMatchObject({ kind: "deadline", detail: "The prompt service did not answer in time" });
  await gone.promise;
});

test("the request id and the trace context travel from hop to hop", async () => {
  const seen: unknown[] = [];
  await using far = await serveTest({
    once: async (request, { requestId, traceparent }) => {
      seen.push({ requestId, traceparent });
      return request;
    },
  });
  await using near = await serveTest({ once: (request, call) => far.client.once(request, { origin: call }) });
  await near.client.once({}, { origin: { requestId: "req-1", traceparent: TRACEPARENT } });
  await near.client.once({}, { origin: { requestId: "req-2", traceparent: "no, ünlikely" } });
  expect(seen).toEqual([
    { requestId: "req-1", traceparent: TRACEPARENT },
    { requestId: "req-2", traceparent: undefined },
  ]);
});

test("a call outside a request gets its own id", async () => {
  const seen: string[] = [];
  await using served = await serveTest({
    once: async (request, { requestId }) => {
      seen.push(requestId);
      return request;
    },
  });
  await served.client.once({});
  await served.client.once({});
  expect(new Set(seen).size).toBe(2);
  expect(seen[0]).toMatch(/^[0-9a-f-]{36}$/);
});

test("who makes a request is known at every hop, and a call that tells nothing, or nonsense, is Parley's own", async () => {
  const seen: Actor[] = [];
  await using far = await serveTest({
    once: async (request, call) => {
      seen.push(call.actor);
      return request;
    },
  });
  await using near = await serveTest({
    once: (request, call) => {
      seen.push(call.actor);
      return far.client.once(request, { origin: call });
    },
  });
  const key: Actor = { kind: "key", id: "key_1" };
  await near.client.once({}, { origin: { requestId: "r", actor: key } });
  await near.client.once({}, { origin: { requestId: "r" } });
  await near.client.once({}, { origin: { requestId: "r", actor: { kind: "key", id: "a key" } } });
  expect(seen).toEqual([key, key, SYSTEM, SYSTEM, SYSTEM, SYSTEM]);
});
