import { afterAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ConfigError } from "@parley/shared/config";
import { recordLog } from "@parley/testkit/recorded-log";
import { createApp } from "../src/app.ts";
import type { Clients } from "../src/clients.ts";
import type { GateContext } from "../src/gate.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";
import { openDashboard } from "../src/routes/dashboard.ts";

const PAGE = "<!doctype html><title>Parley</title>";
const FRAME = "<!doctype html><title>Parley</title><h1>Agents</h1>";
const FRAME_OF_ONE = "<!doctype html><title>Parley</title><h1>Agent</h1>";
const SCRIPT = "console.log(1);\n".repeat(100);
const BROWSER = { accept: "text/html,application/xhtml+xml" };
const { log, lines } = recordLog("warn");

const folder = await mkdtemp(join(tmpdir(), "parley-dashboard-"));
await mkdir(join(folder, "assets"));
for (const [name, text] of [
  ["index.html", PAGE],
  ["pages/agents.html", FRAME],
  ["pages/agents/_.html", FRAME_OF_ONE],
  ["assets/index-abc.js", SCRIPT],
] as const) {
  await Bun.write(join(folder, name), text);
  await Bun.write(join(folder, `${name}.gz`), gzipSync(text));
  await Bun.write(join(folder, `${name}.zst`), zstdCompressSync(text));
}
const gate = {
  addressLimiter: memoryLimiter(),
  addressOf: () => "127.0.0.1",
  log,
} as unknown as GateContext;
const clients = new Proxy({}, { get: () => ({}) }) as Clients;
const app = createApp(gate, clients, { isDraining: false }, openDashboard(folder));
const fetchPath = async (path: string, init?: RequestInit) => app.handle(new Request(`http://gateway${path}`, init));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the dashboard's page runs only its own scripts, and no page may frame it", async () => {
  const answer = await fetchPath("/");
  expect([answer.status, await answer.text()]).toEqual([200, PAGE]);
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(answer.headers.get("cache-control")).toBe("no-cache");
});

test("the address of each of the dashboard's pages opens it, in a browser", async () => {
  for (const path of ["/agents", "/agents/agt_1?tab=models", "/webhooks/deliveries/a%2Fb", "/sign-in"]) {
    const answer = await fetchPath(path, { headers: BROWSER });
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, PAGE]);
    expect(answer.headers.get("x-request-id")).not.toBeNull();
  }
});

test("a visitor with a session gets the frame of the page, and others the page that sends them to sign in", async () => {
  const signedIn = { ...BROWSER, host: "localhost", cookie: "parley_session=pss_1" };
  for (const [path, page] of [
    ["/agents", FRAME],
    ["/agents?page=2", FRAME],
    ["/agents/agt_1?tab=models", FRAME_OF_ONE],
    ["/agents/agt_1/more", PAGE],
    ["/nowhere", PAGE],
    ["/", PAGE],
  ] as const) {
    const answer = await fetchPath(path, { headers: signedIn });
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, page]);
    expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
  }
  expect(await (await fetchPath("/agents", { headers: BROWSER })).text()).toBe(PAGE);
});

test("the dashboard answers nothing that belongs to the API", async () => {
  for (const path of ["/v1/nowhere", "/v1", "/docs/nowhere", "/assets/nowhere.js", "/v2/agents"]) {
    const answer = await fetchPath(path, { headers: BROWSER });
    expect([path, answer.status, await answer.json()]).toEqual([path, 404, { detail: expect.any(String) }]);
  }
  expect((await fetchPath("/nowhere")).status).toBe(404);
  expect((await fetchPath("/agents", { method: "POST", headers: BROWSER })).status).toBe(404);
  expect((await fetchPath("/openapi.json", { headers: BROWSER })).headers.get("content-type")).toContain("json");
});

test("the dashboard's files are sent as they were compressed, and browsers cache them forever", async () => {
  const forms = { zstd: zstdDecompressSync, gzip: gunzipSync };
  for (const [encoding, decompress] of Object.entries(forms)) {
    const answer = await fetchPath("/assets/index-abc.js", { headers: { "accept-encoding": encoding } });
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(decompress(await answer.bytes()).toString()).toBe(SCRIPT);
  }
});

test("only files of the dashboard's assets are served", async () => {
  for (const name of ["index-abc.js.gz", "..%2Findex.html", "%2e%2e%2findex.html"])
    expect([name, (await fetchPath(`/assets/${name}`)).status]).toEqual([name, 404]);
});

test("what a browser's content security policy blocked is logged, without what its user searched for", async () => {
  const report = {
    "csp-report": {
      "effective-directive": "script-src-elem",
      "blocked-uri": "https://evil.example/x.js?secret=1",
      "document-uri": "http://gateway/conversations?search=zebra",
    },
  };
  const body = JSON.stringify(report);
  const headers = { "content-type": "application/csp-report" };
  expect((await fetchPath("/csp-reports", { method: "POST", headers, body })).status).toBe(204);
  expect(lines).toMatchObject([
    {
      level: "warn",
      directive: "script-src-elem",
      blocked: "https://evil.example/x.js",
      page: "http://gateway/conversations",
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/zebra|secret=1/);
});

test("a browser's reports are limited in size and number", async () => {
  const headers = { "content-type": "application/csp-report" };
  const send = (body: string) => fetchPath("/csp-reports", { method: "POST", headers, body });
  expect((await send("x".repeat(17 * 1024))).status).toBe(413);
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await send("{}")).status));
  expect(new Set(statuses)).toEqual(new Set([204, 429]));
});

test("a folder without a built dashboard fails the start with a message that says what to do", () => {
  expect(() => openDashboard(join(folder, "assets"))).toThrow(ConfigError);
  expect(() => openDashboard("/nowhere")).toThrow("bun dashboard/build.ts");
});
