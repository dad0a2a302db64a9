import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { PARLEY, type Stack, startStack } from "./stack.ts";

const TOOL = {
  id: "tol_1",
  name: "look_up",
  type: "http",
  description: "Looks up an order.",
  url: "https://shop.example/",
};
const IMPORTED = {
  tools: [
    { ...TOOL, name: "get_order", auth: { type: "bearer", secret: "shop_token" }, parameters: [] },
    { ...TOOL, name: "drop_order", headers: { "X-Key": { secret: "shop_key" } }, parameters: [] },
  ],
  problems: [{ operation: "POST /files\u001b[2J", problem: "The body is multipart/form-data, and tools send JSON." }],
};
const SECRET = "whsec_c2VjcmV0";

let asked: { line: string; body: unknown }[] = [];
const folder = await mkdtemp(join(tmpdir(), "parley-cli-tools-"));
/** Answers like the API, and keeps the requests. */
const api = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    asked.push({ line: `${request.method} ${pathname}${search}`, body: text === "" ? null : JSON.parse(text) });
    if (pathname.endsWith("/import")) return Response.json(IMPORTED);
    if (pathname.endsWith("/wrong")) {
      const detail = "url cannot be used: it is private";
      const errors = [
        { path: "url", message: detail },
        { path: "name", message: "name is required" },
      ];
      return Response.json({ detail, errors }, { status: 422 });
    }
    if (pathname.endsWith("/used")) {
      const errors = [
        { path: "tool", message: "used" },
        { path: "tool", message: "used again" },
      ];
      return Response.json({ detail: "Tool look_up is used by the agent agt_1", errors }, { status: 409 });
    }
    if (pathname.endsWith("/try"))
      return Response.json({ status: 200, duration_ms: 7, is_error: false, for_model: "shipped" });
    if (pathname.endsWith("/accept"))
      return Response.json({
        ...{ ...TOOL, type: "mcp", mcp_tools: [{ name: "find", state: "on" }] },
        problems: [{ name: "buy it", problem: "its name has\u001b[2J other characters" }],
      });
    if (text.includes("drop_order"))
      return Response.json({ detail: "There is a tool drop_order already" }, { status: 409 });
    const isNew = request.method === "POST";
    return Response.json({ ...TOOL, tools: [TOOL], ...(isNew && { signing_secret: SECRET }) });
  },
});
/** It is told of new values of secrets. */
const agents = await serve(
  AgentServiceService,
  { renewKeys: async () => ({}) },
  { address: "127.0.0.1:0", log: silentLogger },
);
const stack: Stack = await startStack({ agentAddress: agents.address });
afterAll(async () => {
  await api.stop(true);
  await stack.stop();
  await agents.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
});

async function parley(args: readonly string[], input = "") {
  const env = { ...process.env, PARLEY_URL: api.url.origin, PARLEY_API_KEY: "vk_1", PARLEY_HOME: folder };
  const child = Bun.spawn([...PARLEY, ...args], { env, stdio: [Buffer.from(input), "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { stdout, stderr, status: await child.exited };
}

test("a tool is created from a JSON file, and its signing secret is shown once", async () => {
  const body = { name: "look_up", type: "http" };
  const { stdout, status } = await parley(["tool", "create"], JSON.stringify(body));
  expect([status, asked]).toEqual([0, [{ line: "POST /v1/public/tools", body }]]);
  expect(stdout).toContain(SECRET);
  expect(stdout).toEndWith("Keep the signing_secret now: it is not shown again.\n");
  const refused = await parley(["tool", "create", "--json"], "not JSON");
  const error = "standard input must be a JSON object\nSee: parley tool create --help";
  expect([refused.status, JSON.parse(refused.stderr)]).toEqual([2, { error }]);
});

test("a misspelled field of a tool, which the API ignores, is told", async () => {
  const { stdout, stderr, status } = await parley(["tool", "create"], '{"name":"look_up","idempotnt":true,"run":null}');
  expect([status, stderr]).toEqual([0, "Ignored, because tools have no such field: idempotnt\n"]);
  expect(stdout).toContain("look_up");
});

test.each([
  [
    ["tool", "list", "--search", "order", "--type", "http"],
    "",
    "GET /v1/public/tools?page_size=100&search=order&type=http",
    "look_up",
  ],
  [["tool", "get", "tol_1"], "", "GET /v1/public/tools/tol_1", "https://shop.example/"],
  [["tool", "update", "tol_1"], '{"timeout_ms":5000}', "PATCH /v1/public/tools/tol_1", "look_up"],
  [["tool", "rotate-secret", "tol_1"], "", "POST /v1/public/tools/tol_1/rotate-secret", SECRET],
  [["tool", "accept", "tol_1"], "", "POST /v1/public/tools/tol_1/accept", "buy it: its name has\\u001b[2J other"],
  [["tool", "try", "tol_1"], '{"arguments":{}}', "POST /v1/public/tools/tol_1/try", "shipped"],
  [["tool", "delete", "tol_1"], "", "DELETE /v1/public/tools/tol_1", "look_up"],
])("%j asks the API once and shows the answer", async (args, input, line, shown) => {
  const { stdout, status } = await parley(args, input);
  expect([status, asked]).toEqual([0, [{ line, body: input === "" ? null : JSON.parse(input) }]]);
  expect(stdout).toContain(shown);
});

test("a refusal of the API is shown in its own words, with every wrong field", async () => {
  const { stderr, status } = await parley(["tool", "delete", "used"]);
  expect([status, stderr]).toEqual([1, "Tool look_up is used by the agent agt_1\n"]);
  const wrong = await parley(["tool", "update", "wrong"], "{}");
  expect([wrong.status, wrong.stderr]).toEqual([1, "url cannot be used: it is private\nname is required\n"]);
});

test("a secret is set from standard input and listed without its value", async () => {
  const created = await stack.parley(["owner", "create", "--name", "Ann", "--email", "ann@example.com", "--json"]);
  const owner = ["--owner", JSON.parse(created.stdout).owner_id];
  const set = (value: string) => stack.parley(["secret", "set", "shop_key", ...owner, "--json"], {}, value);
  expect(JSON.parse((await set("sk_live_0123\n")).stdout)).toMatchObject({ name: "shop_key", version: 1 });
  expect(JSON.parse((await set("sk_live_4567\n")).stdout)).toMatchObject({ name: "shop_key", version: 2 });
  const { stdout } = await stack.parley(["secret", "list", ...owner]);
  expect(stdout).toContain("shop_key");
  expect(stdout).not.toContain("sk_live");
  const short = await stack.parley(["secret", "set", "shop_key", ...owner], {}, "short");
  expect([short.status, short.stderr]).toEqual([1, "value must be 8 to 8192 characters\n"]);
  const wrong = await stack.parley(["secret", "set", "shop key", ...owner], {}, "sk_live_0123");
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringMatching(/^name must begin with a letter/)]);
  expect(wrong.stderr).not.toContain("sk_live");
});

test("a secret that is typed at a terminal does not appear there", async () => {
  let shown = "";
  const text = new TextDecoder();
  const terminal = {
    data: (typed: { write(data: string): void }, bytes: Uint8Array) => {
      const isAsked = shown.includes("Value: ");
      shown += text.decode(bytes, { stream: true });
      if (!isAsked && shown.includes("Value: ")) typed.write("sk_live_typed\n");
    },
  };
  const env = { ...process.env, PARLEY_ACCOUNT_ADDRESS: stack.address, PARLEY_HOME: folder };
  const child = Bun.spawn([...PARLEY, "secret", "set", "typed", "--owner", "own_missing"], { env, terminal });
  expect(await child.exited).toBe(1);
  await eventually(() => expect(shown).toContain("Owner not found"));
  expect(shown).not.toContain("sk_live");
});

test("an import shows the tools, their secrets and the problems, and creates nothing", async () => {
  const document = "openapi: 3.0.0";
  await Bun.write(join(folder, "openapi.yaml"), document);
  const { stdout, status } = await parley(["tool", "import", "--file", join(folder, "openapi.yaml")]);
  expect([status, asked]).toEqual([0, [{ line: "POST /v1/public/tools/import", body: { document } }]]);
  for (const words of [
    "get_order",
    "shop_token",
    "drop_order",
    "shop_key",
    "POST /files\\u001b[2J: The body is multipart",
  ])
    expect(stdout).toContain(words);
});

test("an import creates the chosen tools, and none if one of the names is wrong", async () => {
  const url = "https://shop.example/openapi.json";
  const { stdout, status } = await parley(["tool", "import", "--url", url, "--operation", "get-order"]);
  expect([status, asked]).toEqual([
    0,
    [
      { line: "POST /v1/public/tools/import", body: { url } },
      { line: "POST /v1/public/tools", body: IMPORTED.tools[0] as object },
    ],
  ]);
  expect(stdout).toContain(SECRET);
  asked = [];
  const wrong = await parley(["tool", "import", "--url", url, "--operation", "get-order", "missing"]);
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("There is no tool missing")]);
  expect(asked).toHaveLength(1);
});

test("an import shows the signing secrets of the tools that it created before one that is refused", async () => {
  const url = "https://shop.example/openapi.json";
  const args = ["tool", "import", "--url", url, "--operation", "get_order", "drop_order"];
  const { stdout, stderr, status } = await parley(args);
  expect([status, stderr]).toEqual([1, "There is a tool drop_order already\n"]);
  expect(stdout).toContain(SECRET);
});

test("a curl command is read from standard input, where other users do not see its secrets", async () => {
  const { status } = await parley(["tool", "import", "--curl", "-"], "curl https://shop.example/\n");
  expect([status, asked[0]?.body]).toEqual([0, { curl: "curl https://shop.example/" }]);
  expect((await parley(["tool", "import"])).status).toBe(2);
});
