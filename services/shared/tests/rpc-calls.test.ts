import { afterEach, expect, setSystemTime, test } from "bun:test";
import { ServiceError } from "../src/errors.ts";
import type { Call } from "../src/rpc/server.ts";
import { eventually } from "../src/testing/eventually.ts";
import { failureOf } from "./fixtures/failure-of.ts";
import { serveTest } from "./fixtures/serve-test.ts";

// What goes along with a call from hop to hop: deadline, cancellation, identity, pace.

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

afterEach(() => {
  setSystemTime();
});

test("a deadline is shorter at every hop", async () => {
  // Standing still, so that nothing but the rule shortens it.
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

test("a call's own time-out is its deadline when it is earlier than its caller's, and the client's default without either", async () => {
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
  await served.client.once({}, { origin: { requestId: "r", deadlineMs: Date.now() + 10_000 }, timeoutMs: 1_000 });
  await served.client.once({});
  for await (const _message of served.client.many({}));
  expect(seen).toEqual([1_000, 5_000, undefined]);
});

test("a slow callee makes a deadline error that names it, and learns that nobody waits", async () => {
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
  const failure = await failureOf(served.client.once({}, { timeoutMs: 100 }));
  expect(failure).toMatchObject({ kind: "deadline", detail: "The prompt service did not answer in time" });
  await gone.promise;
});

test("a caller that goes away cancels the whole chain behind it, unary and streamed", async () => {
  const cancelled: string[] = [];
  const started: string[] = [];
  const note = (name: string, call: Call) => {
    started.push(name);
    call.signal.addEventListener("abort", () => cancelled.push(name));
  };
  await using far = await serveTest({
    once: (_request, call) => {
      note("far once", call);
      return new Promise(() => {});
    },
    many: async function* (_request, call) {
      note("far many", call);
      yield {};
      await new Promise(() => {});
    },
  });
  await using near = await serveTest({
    once: (request, call) => {
      note("near once", call);
      return far.client.once(request, { origin: call });
    },
    many: async function* (request, call) {
      note("near many", call);
      yield* far.client.many(request, { origin: call });
    },
  });
  const leaving = new AbortController();
  const options = { origin: { requestId: "r", signal: leaving.signal }, timeoutMs: 60_000 };
  const once = failureOf(near.client.once({}, options));
  const many = near.client.many({}, options)[Symbol.asyncIterator]();
  await many.next();
  await eventually(() => expect(started.toSorted()).toEqual(["far many", "far once", "near many", "near once"]));
  expect(cancelled).toEqual([]);
  leaving.abort();
  for (const failure of [await once, await failureOf(many.next())]) {
    expect(failure).toMatchObject({ kind: "cancelled", detail: "The request was cancelled" });
  }
  await eventually(() => expect(cancelled.toSorted()).toEqual(started.toSorted()));
  // A caller that leaves is no fault of ours.
  expect([...near.lines, ...far.lines]).toEqual([]);
});

test("a handler that gives up with its caller is not logged as failed", async () => {
  const [waiting, reading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let ended = 0;
  await using served = await serveTest({
    once: async (_request, { signal }) => {
      const left = new Promise((resolve) => signal.addEventListener("abort", resolve));
      waiting.resolve();
      await left;
      ended++;
      signal.throwIfAborted();
      return {};
    },
    collect: async (requests) => {
      try {
        for await (const _request of requests) reading.resolve();
      } finally {
        ended++;
      }
      return {};
    },
  });
  const leaving = new AbortController();
  const options = { origin: { requestId: "r", signal: leaving.signal } };
  const silent = async function* () {
    yield {};
    await new Promise(() => {});
  };
  const failures = [failureOf(served.client.once({}, options)), failureOf(served.client.collect(silent(), options))];
  await Promise.all([waiting.promise, reading.promise]);
  leaving.abort();
  for (const failure of failures) expect(await failure).toMatchObject({ kind: "cancelled" });
  await eventually(() => expect(ended).toBe(2));
  await failureOf(served.client.unserved({}));
  expect(served.lines).toEqual([]);
});

test("a call whose caller is gone already is never made", async () => {
  let calls = 0;
  await using served = await serveTest({
    once: async () => {
      calls++;
      return {};
    },
  });
  const origin = { requestId: "r", signal: AbortSignal.abort() };
  expect(await failureOf(served.client.once({}, { origin }))).toMatchObject({ kind: "cancelled" });
  expect(await failureOf(served.client.collect(endless(), { origin }))).toMatchObject({ kind: "cancelled" });
  expect(await failureOf(served.client.many({}, { origin })[Symbol.asyncIterator]().next())).toMatchObject({
    kind: "cancelled",
  });
  await served.client.once({});
  expect(calls).toBe(1);
});

test("calls leave no listener behind on the signal of their caller, however they end", async () => {
  await using served = await serveTest({
    once: async ({ fail }) => {
      if (fail) throw new ServiceError("conflict", "no");
      return {};
    },
    many: async function* () {
      for (let n = 0; ; n++) yield { n };
    },
    collect: async () => ({}),
  });
  const signal = new AbortController().signal;
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    },
    removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    },
  });
  const options = { origin: { requestId: "r", signal } };
  await served.client.once({}, options);
  await failureOf(served.client.once({ fail: true }, options));
  await served.client.collect(endless(), options);
  for await (const _message of served.client.many({}, options)) {
    expect(listeners).toBe(1);
    break;
  }
  expect(listeners).toBe(0);
});

test("the signal of an answered call never fires", async () => {
  let fired = 0;
  const signals: AbortSignal[] = [];
  const note = ({ signal }: Call) => {
    signals.push(signal);
    signal.addEventListener("abort", () => fired++);
  };
  await using served = await serveTest({
    once: async (_request, call) => {
      note(call);
      return {};
    },
    many: async function* (_request, call) {
      note(call);
      yield {};
    },
  });
  await served.client.once({});
  for await (const _message of served.client.many({}));
  await served.client.once({});
  expect(signals.map((signal) => signal.aborted)).toEqual([false, false, false]);
  expect(fired).toBe(0);
});

test("a consumer that breaks off a stream ends its producer", async () => {
  const ended = Promise.withResolvers<void>();
  await using served = await serveTest({
    many: async function* () {
      try {
        for (let n = 0; ; n++) yield { n };
      } finally {
        ended.resolve();
      }
    },
  });
  for await (const { n } of served.client.many({})) if (n === 3) break;
  await ended.promise;
});

test("a slow reader bounds what is produced for it", async () => {
  let produced = 0;
  await using served = await serveTest({
    once: async (request) => request,
    many: async function* () {
      for (; produced < 2_000; produced++) yield { text: "x".repeat(65_536) };
    },
  });
  for await (const _message of served.client.many({})) {
    for (let i = 0; i < 100; i++) await served.client.once({});
    break;
  }
  expect(produced).toBeLessThan(200);
});

test("a slow receiver bounds what is sent to it, and an early answer ends the sending", async () => {
  const enough = Promise.withResolvers<void>();
  let sent = 0;
  let returned = false;
  await using served = await serveTest({
    once: async (request) => request,
    collect: async (requests) => {
      for await (const _request of requests) break;
      await enough.promise;
      return { answered: true };
    },
  });
  const source = async function* () {
    try {
      for (; sent < 2_000; sent++) yield { text: "x".repeat(65_536) };
    } finally {
      returned = true;
    }
  };
  const answer = served.client.collect(source());
  for (let i = 0; i < 100; i++) await served.client.once({});
  expect(sent).toBeLessThan(200);
  enough.resolve();
  expect(await answer).toEqual({ answered: true });
  await eventually(() => expect(returned).toBe(true));
});

test("a stream of requests that fails at its source fails the call with that, and cancels its handler", async () => {
  const [reading, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using served = await serveTest({
    collect: async (requests, { signal }) => {
      signal.addEventListener("abort", () => gone.resolve());
      for await (const _request of requests) reading.resolve();
      return {};
    },
  });
  const broken = new Error("the source broke");
  const source = async function* () {
    yield {};
    await reading.promise;
    throw broken;
  };
  expect(await failureOf(served.client.collect(source()))).toBe(broken);
  await gone.promise;
});

test("a stream of requests that is broken off is never taken for a whole one", async () => {
  const ends: string[] = [];
  let reading = Promise.withResolvers<void>();
  await using served = await serveTest({
    collect: async (requests) => {
      try {
        for await (const _request of requests) reading.resolve();
        ends.push("whole");
      } catch (error) {
        ends.push("broken");
        throw error;
      }
      return {};
    },
  });
  for (const at of [0, 1, 50]) {
    const leaving = new AbortController();
    reading = Promise.withResolvers();
    const source = async function* () {
      for (let n = 0; n <= at; n++) yield { n };
      await new Promise(() => {});
    };
    const failure = failureOf(served.client.collect(source(), { origin: { requestId: "r", signal: leaving.signal } }));
    await reading.promise;
    leaving.abort();
    expect(await failure).toMatchObject({ kind: "cancelled" });
  }
  await eventually(() => expect(ends).toEqual(["broken", "broken", "broken"]));
});

test("streams of requests arrive whole and in order", async () => {
  await using served = await serveTest({
    collect: async (requests) => {
      const all: unknown[] = [];
      for await (const { n } of requests) all.push(n);
      return { all };
    },
  });
  const numbers = Array.from({ length: 1_000 }, (_, n) => n);
  const source = async function* () {
    for (const n of numbers) yield { n };
  };
  expect(await served.client.collect(source())).toEqual({ all: numbers });
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

test("a call made for no request is given an id of its own", async () => {
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

async function* endless() {
  for (let n = 0; ; n++) yield { n };
}
