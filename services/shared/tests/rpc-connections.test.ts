import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { startTcpProxy } from "@parley/testkit/network/tcp-proxy";
import { createClient } from "../src/rpc/client.ts";
import { serveTest } from "./fixtures/serve-test.ts";
import { TestService } from "./fixtures/test-service.ts";

/** Long enough for calls made at once to be in progress on one connection, even on a busy machine. */
const OLD_MS = 1_000;

test("streams continue when their connection is too old for new calls, which use another", async () => {
  const proxy = await startTcpProxy();
  const sent = Promise.withResolvers<void>();
  const next = Promise.withResolvers<void>();
  const received: unknown[] = [];
  await using served = await serveTest(
    {
      once: async (request) => request,
      many: async function* () {
        yield { n: 0 };
        await next.promise;
        yield { n: 1 };
      },
      collect: async (requests) => {
        for await (const { n } of requests) received.push(n);
        return { received };
      },
    },
    { connectionAgeMs: OLD_MS },
  );
  proxy.to(served.address);
  const client = createClient(TestService, { peer: "test", address: proxy.address });
  const stream = client.many({})[Symbol.asyncIterator]();
  const first = stream.next();
  const collected = client.collect(
    (async function* () {
      yield { n: 0 };
      sent.resolve();
      await next.promise;
      yield { n: 1 };
    })(),
  );
  expect((await first).value).toEqual({ n: 0 });
  await sent.promise;
  await eventually(async () => {
    expect(await client.once({ n: 2 })).toEqual({ n: 2 });
    expect(proxy.connections()).toBeGreaterThan(2);
  });
  next.resolve();
  expect((await stream.next()).value).toEqual({ n: 1 });
  expect((await stream.next()).done).toBe(true);
  expect(await collected).toEqual({ received: [0, 1] });
  client.close();
  await proxy.close();
});

test("a caller that vanished silently has its calls ended, even on a connection too old for new ones", async () => {
  const proxy = await startTcpProxy();
  const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [sent, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  await using served = await serveTest(
    {
      once: (_request, { signal }) => {
        signal.addEventListener("abort", () => gone.resolve());
        asked.resolve();
        return new Promise<never>(() => {});
      },
      collect: async (requests) => {
        try {
          for await (const _request of requests) sent.resolve();
          ended.resolve("like a whole one");
        } catch {
          ended.resolve("cut off");
        }
        return {};
      },
    },
    { connectionAgeMs: OLD_MS, keepaliveMs: 2 * OLD_MS },
  );
  proxy.to(served.address);
  const client = createClient(TestService, { peer: "test", address: proxy.address });
  const collecting = client
    .collect(
      (async function* () {
        yield { n: 0 };
        await ended.promise;
      })(),
    )
    .catch(() => {});
  const asking = client.once({}).catch(() => {});
  await Promise.all([asked.promise, sent.promise]);
  proxy.silence();
  await gone.promise;
  expect(await ended.promise).toBe("cut off");
  client.close();
  await proxy.close();
  await Promise.all([collecting, asking]);
});

test("a server that hangs fails its calls long before their deadlines, and gets no others in the meantime", async () => {
  const proxy = await startTcpProxy();
  const asked = Promise.withResolvers<void>();
  const handlers = (name: string) => ({
    once: async ({ n }: { n?: number }) => {
      if (n !== 1) return { name };
      asked.resolve();
      return new Promise<never>(() => {});
    },
  });
  await using hanging = await serveTest(handlers("hanging"));
  await using other = await serveTest(handlers("other"));
  proxy.to(hanging.address);
  const settings = { peer: "test", keepaliveMs: OLD_MS, timeoutMs: 600_000 };
  const only = createClient(TestService, { ...settings, address: proxy.address });
  const asking = failureOf(only.once({ n: 1 }));
  await asked.promise;
  const both = createClient(TestService, { ...settings, address: `ipv4:${proxy.address},${other.address}` });
  const namesOf = async () => Promise.all(Array.from({ length: 10 }, async () => (await both.once({})).name));
  await eventually(async () => expect(await namesOf()).toContain("hanging"));
  proxy.silence();
  expect(await asking).toMatchObject({ kind: "unavailable" });
  await eventually(async () => expect(new Set(await namesOf())).toEqual(new Set(["other"])));
  for (const client of [only, both]) client.close();
  await proxy.close();
});
