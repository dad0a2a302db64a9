import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { invalid } from "../src/errors.ts";
import { serveTest } from "./fixtures/serve-test.ts";

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

test("a slow reader holds back its producer", async () => {
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

test("a slow receiver holds back its sender, and an early answer ends the sending", async () => {
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

test("a stream of requests that fails at its source fails the call with that error, and cancels its handler", async () => {
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

test("a request stream that breaks off is never taken for a complete one", async () => {
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

test("both sides of a bidirectional stream send at any time, and each response may answer a request", async () => {
  await using served = await serveTest({
    both: async function* (requests) {
      for await (const { n } of requests) yield { n: Number(n) + 1 };
    },
  });
  const next = Promise.withResolvers<void>();
  const answers: unknown[] = [];
  const requests = async function* () {
    yield { n: 1 };
    await next.promise;
    yield { n: 10 };
  };
  for await (const { n } of served.client.both(requests())) {
    answers.push(n);
    next.resolve();
  }
  expect(answers).toEqual([2, 11]);
});

test("a server may end a bidirectional stream before its client does", async () => {
  await using served = await serveTest({
    both: async function* (requests) {
      for await (const request of requests) return void (yield request);
    },
  });
  const requests = async function* () {
    yield { n: 1 };
    await new Promise(() => {});
  };
  const answers: unknown[] = [];
  for await (const answer of served.client.both(requests())) answers.push(answer);
  expect(answers).toEqual([{ n: 1 }]);
});

test("a client that leaves a bidirectional stream ends the server's handler, and an error reaches the client", async () => {
  const gone = Promise.withResolvers<unknown>();
  await using served = await serveTest({
    both: async function* (requests) {
      try {
        for await (const { fail } of requests) {
          if (fail) throw invalid("n", "n is wrong");
          yield { n: 1 };
        }
      } catch (error) {
        gone.resolve(error);
        throw error;
      }
    },
  });
  const requests = async function* (fail: boolean) {
    yield { fail };
    await new Promise(() => {});
  };
  for await (const _answer of served.client.both(requests(false))) break;
  expect(await gone.promise).toMatchObject({ kind: "cancelled" });
  const failing = async () => {
    for await (const _answer of served.client.both(requests(true)));
  };
  expect(await failureOf(failing())).toMatchObject({ kind: "invalid", detail: "n is wrong" });
});
