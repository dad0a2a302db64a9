import { expect, test } from "bun:test";
import { setServers } from "node:dns";
import { failureOf } from "@parley/testkit/failures";
import { startNameServer } from "@parley/testkit/network/name-server";
import { remembered, resolveHost } from "./resolve.ts";

/** More than the threads of any pool. */
const STALLED = 100;

test("names whose servers never answer do not delay other look-ups", async () => {
  using server = await startNameServer((name) => (name.startsWith("stalls-") ? "silence" : "127.0.0.9"));
  setServers([server.address]);
  let settled = 0;
  for (let at = 0; at < STALLED; at++) {
    const settle = () => void settled++;
    resolveHost(`stalls-${at}.test`).then(settle, settle);
  }
  expect(await resolveHost("works.test")).toEqual(["127.0.0.9"]);
  expect([settled, server.unanswered.size]).toEqual([0, STALLED]);
});

test("names in the hosts file are found", async () => {
  expect(await resolveHost("localhost")).toContain("127.0.0.1");
});

/** Remembered names in time that the test tells, and the look-ups that wait for their answers. */
function manual() {
  const time = { nowMs: 1_000 };
  const asked: { host: string; answer(...addresses: string[]): void; fail(): void }[] = [];
  const resolve = remembered(
    (host) =>
      new Promise((answer, reject) => {
        asked.push({ host, answer: (...addresses) => answer(addresses), fail: () => reject(new Error("no answer")) });
      }),
    { now: () => time.nowMs },
  );
  return { time, asked, resolve };
}

test("a name is asked for once by requests that come together, and not again for five seconds", async () => {
  const { time, asked, resolve } = manual();
  const together = [resolve("a.test"), resolve("a.test")];
  expect(asked).toHaveLength(1);
  asked[0]?.answer("192.0.2.1");
  expect(await Promise.all(together)).toEqual([["192.0.2.1"], ["192.0.2.1"]]);
  time.nowMs = 6_000;
  expect(await resolve("a.test")).toEqual(["192.0.2.1"]);
  expect(asked).toHaveLength(1);
  void resolve("b.test");
  expect(asked.map(({ host }) => host)).toEqual(["a.test", "b.test"]);
});

test("older addresses are used for a minute while the name is asked for again, even if nobody answers", async () => {
  const { time, asked, resolve } = manual();
  const first = resolve("a.test");
  asked[0]?.answer("192.0.2.1");
  await first;
  time.nowMs = 6_001;
  expect(await resolve("a.test")).toEqual(["192.0.2.1"]);
  expect(asked).toHaveLength(2);
  asked[1]?.fail();
  await Bun.sleep(0);
  time.nowMs = 61_000;
  expect(await resolve("a.test")).toEqual(["192.0.2.1"]);
  expect(asked).toHaveLength(3);
  asked[2]?.answer("192.0.2.2");
  await Bun.sleep(0);
  expect(await resolve("a.test")).toEqual(["192.0.2.2"]);
  time.nowMs = 121_001;
  const late = resolve("a.test");
  expect(asked).toHaveLength(4);
  asked[3]?.answer("192.0.2.3");
  expect(await late).toEqual(["192.0.2.3"]);
});

test("a look-up that fails is told to those who wait for it, and the next request asks again", async () => {
  const { asked, resolve } = manual();
  const first = resolve("a.test");
  asked[0]?.fail();
  expect(await failureOf(first)).toHaveProperty("message", "no answer");
  const second = resolve("a.test");
  asked[1]?.answer("192.0.2.1");
  expect(await second).toEqual(["192.0.2.1"]);
});

test("of a name with thousands of addresses few are kept, and it is not asked for again for a minute", async () => {
  const { time, asked, resolve } = manual();
  const many = Array.from({ length: 4_000 }, (_, at) => `192.0.${at >> 8}.${at & 255}`);
  const first = resolve("many.test");
  asked[0]?.answer(...many);
  expect(await first).toEqual(many.slice(0, 16));
  time.nowMs = 61_000;
  expect(await resolve("many.test")).toHaveLength(16);
  expect(asked).toHaveLength(1);
  time.nowMs = 61_001;
  void resolve("many.test");
  expect(asked).toHaveLength(2);
});
