import { expect, test } from "bun:test";
import { setServers } from "node:dns";
import { startNameServer } from "../testing/name-server.ts";
import { resolveHost } from "./resolve.ts";

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
