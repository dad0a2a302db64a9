import { afterAll, beforeEach, expect, test } from "bun:test";
import { runHere } from "./run-here.ts";

let asked: { line: string; body: unknown }[] = [];
const VERSION = { published: true, weight: 90, created_at: "2026-01-31", created_by: "key:key_1", note: "Kinder" };
const AGENT = {
  id: "agt_1",
  agent_name: "Repairs",
  published_version: null,
  latest_version: 2,
  updated_at: "2026-01-31",
};
const PUBLISH = { kind: "publish", agent_version: 3, split: null, note: null, created_at: "2026-01-31" };

/** Answers like the API, and keeps the requests. */
const api = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    asked.push({ line: `${request.method} ${pathname}${search}`, body: text === "" ? null : JSON.parse(text) });
    if (pathname.endsWith("/agents")) return Response.json({ agents: search.includes("Nobody") ? [] : [AGENT] });
    if (pathname.endsWith("/versions")) {
      const figures = { conversations: 40, outcomes: { n: 40, shares: { COMPLETED: 0.875 } } };
      return Response.json({
        versions: [
          { ...VERSION, agent_version: 2, figures },
          { ...VERSION, agent_version: 1, published: false, weight: 10, note: null, figures: null },
        ],
      });
    }
    if (pathname.endsWith("/agt_gone/versions/3/publish"))
      return Response.json({ detail: "Version 3 cannot be published: prompt refunds is gone" }, { status: 409 });
    if (request.method === "GET") return Response.json({ split: [{ agent_version: 2, weight: 100 }] });
    return Response.json({ publish: PUBLISH, publishing: "manual", became_manual: pathname.endsWith("/publish") });
  },
});
afterAll(() => api.stop(true));
beforeEach(() => {
  asked = [];
});

const parley = (...args: string[]) =>
  runHere(["agent", ...args], { PARLEY_URL: `http://127.0.0.1:${api.port}`, PARLEY_API_KEY: "vk_test" });

test("agents are listed with the IDs that other commands take", async () => {
  const { stdout } = await parley("list", "--search", "Repair shop");
  expect(stdout).toMatch(/^agt_1 +Repairs +- +2 +2026-01-31$/m);
  expect(asked.map(({ line }) => line)).toEqual(["GET /v1/public/agents?page_size=100&search=Repair+shop"]);
  expect((await parley("list", "--search", "Nobody")).stdout).toContain("No agents match.");
});

test("versions are listed with what came of their conversations, also while the figures are not there", async () => {
  const { stdout, status } = await parley("versions", "agt_1");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^2 +yes +90 % +40 +88 % +2026-01-31 +key:key_1 +Kinder$/m);
  expect(stdout).toMatch(/^1 +10 % +- +- /m);
});

test("a version is published with its note and reason, and the output says that publishing is manual now", async () => {
  const { stdout, status } = await parley("publish", "agt_1", "3", "--note", "Kinder", "--override", "Outage");
  expect(status).toBe(0);
  expect(asked).toEqual([
    {
      line: "POST /v1/public/agents/agt_1/versions/3/publish",
      body: { note: "Kinder", override: { reason: "Outage" } },
    },
  ]);
  expect(stdout).toContain("Publishing is manual now");
});

test("a version that cannot be published ends with the API's sentence and status 1", async () => {
  const { stderr, status } = await parley("publish", "agt_gone", "3");
  expect([status, stderr]).toEqual([1, expect.stringContaining("prompt refunds is gone")]);
});

test("traffic is shown without a split, and set with one", async () => {
  expect((await parley("traffic", "agt_1")).stdout).toMatch(/^2 +100 %$/m);
  await parley("traffic", "agt_1", "--split", "3=10,2=90");
  const split = [
    { agent_version: 3, weight: 10 },
    { agent_version: 2, weight: 90 },
  ];
  expect(asked.at(-1)).toEqual({ line: "PUT /v1/public/agents/agt_1/traffic", body: { split } });
});

test("a split that is none is refused before anything is asked", async () => {
  const { stderr, status } = await parley("traffic", "agt_1", "--split", "half");
  expect([status === 0, asked.length]).toEqual([false, 0]);
  expect(stderr).toContain("such as 3=10,2=90");
});

test("an address of the API without https:// is refused as such, not as a server that does not answer", async () => {
  const { status, stderr } = await runHere(["agent", "list"], {
    PARLEY_URL: "parley.example.com",
    PARLEY_API_KEY: "vk_1",
  });
  expect([status, stderr]).toEqual([1, "PARLEY_URL must begin with https:// or http://, not be parley.example.com\n"]);
});
