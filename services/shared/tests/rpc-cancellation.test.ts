import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { ServiceError } from "../src/errors.ts";
import type { Call } from "../src/rpc/call.ts";
import { serveTest } from "./fixtures/serve-test.ts";

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
  // A caller that leaves is not an error of the service.
  expect([...near.lines, ...far.lines]).toEqual([]);
});

test("a handler that stops with its caller is not logged as failed", async () => {
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

test("a call whose caller has already gone is never made", async () => {
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

async function* endless() {
  for (let n = 0; ; n++) yield { n };
}
