import { afterAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createSession } from "../kit/test-owner.ts";

interface Asked {
  url: string;
  headers: Headers;
  body: string;
}

const OPENAPI = `openapi: 3.1.0
info: { title: Shop, version: "1" }
security: [{ key: [] }]
components: { securitySchemes: { key: { type: apiKey, in: header, name: X-Key } } }
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      summary: Looks up an order.
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
  /files:
    post: { requestBody: { content: { "image/png": {} } } }
`;

let asked: Asked[] = [];
/** A customer's server, which says what it was asked and with which key. */
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/openapi.yaml") return new Response(OPENAPI);
    if (pathname === "/long.yaml") return new Response("a".repeat(4 * 1024 * 1024 + 1));
    if (pathname === "/moved.yaml") return Response.redirect("https://shop.example/openapi.yaml");
    asked.push({ url: request.url, headers: request.headers, body: await request.text() });
    return Response.json({ status: "shipped", told: request.headers.get("authorization") });
  },
});
const stack = await sharedStack();
const apis = stack.owners.map(({ apiKey }) => stack.api(apiKey));
const [api, other] = [apis[0] as (typeof apis)[0], apis[1] as (typeof apis)[0]];
const manages = await Promise.all(
  stack.owners.map(async ({ ownerId }) => stack.manage(await createSession(stack, ownerId))),
);
afterAll(async () => {
  await server.stop(true);
  await stack.stop();
});

const [manage, otherManage] = [manages[0] as (typeof manages)[0], manages[1] as (typeof manages)[0]];

const httpTool = (given: object = {}) => ({
  name: `tool_${Bun.randomUUIDv7().replaceAll("-", "")}`,
  description: "Looks up an order.",
  type: "http",
  method: "POST",
  url: `${server.url.origin}/orders`,
  ...given,
});

test("two owners have tools and secrets of the same names, each sending its own", async () => {
  const values = ["value-of-the-first-owner", "value-of-the-second-owner"];
  const tools = await Promise.all(
    [0, 1].map(async (owner) => {
      const [as, managing] = owner === 0 ? [api, manage] : [other, otherManage];
      await managing.post("/secrets", { name: "shop_key", value: values[owner] });
      const made = await as.post("/tools", httpTool({ name: "look_up", auth: { type: "bearer", secret: "shop_key" } }));
      expect(made.status).toBe(200);
      return made.body;
    }),
  );
  asked = [];
  const tried = [await api.post(`/tools/${tools[0].id}/try`, {}), await other.post(`/tools/${tools[1].id}/try`, {})];
  expect(asked.map(({ headers }) => headers.get("authorization"))).toEqual(values.map((value) => `Bearer ${value}`));
  // The server echoes the key, which neither the owner nor the model sees.
  for (const { status, body } of tried) {
    expect([status, body.status, body.is_error]).toEqual([200, 200, false]);
    expect(JSON.stringify(body)).not.toContain("value-of-the");
  }
  const foreign = await other.post(`/tools/${tools[0].id}/try`, {});
  expect([foreign.status, foreign.body.detail]).toEqual([403, "You do not have access to this tool"]);
  expect((await manage.send("DELETE", "/secrets/shop_key")).status).toBe(409);
  expect((await api.send("DELETE", `/tools/${tools[0].id}`)).status).toBe(200);
  expect((await manage.send("DELETE", "/secrets/shop_key")).status).toBe(200);
  expect((await other.post(`/tools/${tools[1].id}/try`, {})).body.is_error).toBe(false);
});

test("a tool's requests are signed with its secret, and after a rotation with both", async () => {
  const { body: tool } = await api.post("/tools", httpTool());
  const rotated = (await api.post(`/tools/${tool.id}/rotate-secret`, {})).body;
  expect(rotated.signing_secret).not.toBe(tool.signing_secret);
  asked = [];
  await api.post(`/tools/${tool.id}/try`, {});
  const [request] = asked;
  const headers = Object.fromEntries(request?.headers.entries() ?? []);
  for (const secret of [tool.signing_secret, rotated.signing_secret])
    expect(() => new Webhook(secret).verify(request?.body ?? "", headers)).not.toThrow();
  expect((await api.get(`/tools/${tool.id}`)).body.signing_secret).toBeUndefined();
});

test("a tool is answered as it was given, and a change replaces the fields that it has", async () => {
  const given = httpTool({
    url: `${server.url.origin}/orders/{id}?lang={{language}}`,
    headers: { Accept: "application/json" },
    parameters: [
      { name: "id", in: "path", required: true, schema: { type: "string" } },
      { name: "note", in: "body", required: false, constant: null },
      { name: "customer", in: "body", required: true, variable: "customer_id" },
    ],
    result: { keep: ["/status"], hide: false },
    assignments: [{ variable: "order_status", pointer: "/status" }],
    speech: { before: "off", delayed: [{ after_ms: 4_000, text: "Still looking." }] },
    interruption: "cancel",
    run: "background",
    timeout_ms: 5_000,
    retries: 1,
    idempotent: true,
    auth: null,
  });
  const { status, body } = await api.post("/tools", given);
  expect([status, body]).toEqual([200, expect.objectContaining(given)]);
  expect(body.created_by).toMatch(/^key:key_/);
  const changed = await api.send("PATCH", `/tools/${body.id}`, {
    body: JSON.stringify({ retries: null, run: null, result: null, description: "Finds an order." }),
    headers: { "content-type": "application/json" },
  });
  const defaults = { retries: 0, run: "wait", result: null, description: "Finds an order." };
  expect(changed.body).toEqual(expect.objectContaining({ ...given, ...defaults }));
  asked = [];
  const tried = await api.post(`/tools/${body.id}/try`, {
    arguments: { id: "A/1" },
    variables: { customer_id: "C-7", language: "en" },
  });
  expect(tried.body.assignments).toEqual({ order_status: "shipped" });
  expect(asked.map(({ url, body: sent }) => [url, JSON.parse(sent)])).toEqual([
    [`${server.url.origin}/orders/A%2F1?lang=en`, { note: null, customer: "C-7" }],
  ]);
});

test("a try with a value that no variable can hold is refused, naming the variable", async () => {
  const { body: tool } = await api.post("/tools", httpTool());
  const { status, body } = await api.post(`/tools/${tool.id}/try`, { variables: { customer: ["x".repeat(20_000)] } });
  expect([status, body.detail]).toEqual([422, "variables.customer must be at most 16 KiB of JSON"]);
});

test.each<[string, object, string]>([
  ["no method", { method: undefined }, "method"],
  ["no address", { url: undefined }, "url"],
  ["a name with a space", { name: "look up" }, "name"],
  ["a blank description", { description: " " }, "description"],
  ["an unknown type", { type: "soap" }, "type"],
  ["a server that does not speak MCP", { type: "mcp", method: undefined }, "url"],
  ["a private address", { url: "https://169.254.169.254/" }, "url"],
  ["a field of another type", { wait: true }, "wait"],
  ["four retries", { retries: 4 }, "retries"],
  ["half a second", { timeout_ms: 500 }, "timeout_ms"],
  ["two sources", { parameters: [{ name: "a", in: "body", variable: "b", constant: 1 }] }, "parameters.0"],
  ["a wrong place", { parameters: [{ name: "a", in: "cookie", constant: 1 }] }, "parameters.0.in"],
  ["an unknown field", { parameters: [{ name: "a", in: "body", constant: 1, type: "string" }] }, "parameters.0.type"],
  ["a number as header", { headers: { "X-A": 1 } }, "headers.X-A"],
  ["a reserved header", { headers: { Host: "shop.example" } }, "headers.Host"],
  ["an unknown secret", { auth: { type: "bearer", secret: "unknown" } }, "auth.secret"],
  ["basic without a user name", { auth: { type: "basic", secret: "unknown" } }, "auth.username"],
  ["an unknown kind of auth", { auth: { type: "digest", secret: "unknown" } }, "auth.type"],
  ["another speech", { speech: { after: "Done." } }, "speech.after"],
])("a tool with %s is 422 and names the field", async (_what, given, path) => {
  const { status, body } = await api.post("/tools", httpTool(given));
  expect([status, body.errors?.[0]?.path]).toEqual([422, path]);
});

test.each<[string, object, string]>([
  ["33 tools", { custom_tools: Array.from({ length: 33 }, (_, at) => ({ tool_id: `tol_${at}` })) }, "custom_tools"],
  ["an unknown tool", { custom_tools: [{ tool_id: "tol_1" }] }, "custom_tools.0.tool_id"],
  ["eleven handoffs", { handoffs: Array.from({ length: 11 }, () => ({ agent_id: "a", when: "Always." })) }, "handoffs"],
  ["a handoff to nobody", { handoffs: [{ agent_id: "agt_1", when: "Always." }] }, "handoffs.0.agent_id"],
  ["a handoff without a reason", { handoffs: [{ agent_id: "agt_1" }] }, "handoffs.0.when"],
])("an agent with %s is 422 and names the field", async (_what, given, path) => {
  const { status, body } = await api.post("/agents", { agent_name: "A", agent_type: "INBOUND", ...given });
  expect([status, body.errors?.[0]?.path]).toEqual([422, path]);
});

test("a taken name is 409, and a changed agent keeps the tools that a change leaves out", async () => {
  const given = httpTool({ type: "client", method: undefined, url: undefined, wait: false });
  const { body: tool } = await api.post("/tools", given);
  expect(tool).toMatchObject({ type: "client", wait: false, parameters: [] });
  expect((await api.post("/tools", given)).status).toBe(409);
  const custom_tools = [{ tool_id: tool.id }];
  const { body: agent } = await api.post("/agents", { agent_name: "A", agent_type: "INBOUND", custom_tools });
  const path = `/agents/${agent.id}`;
  const patch = (body: object) =>
    api.send("PATCH", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  expect((await patch({ agent_name: "B" })).body.custom_tools).toEqual(custom_tools);
  const used = await api.send("DELETE", `/tools/${tool.id}`);
  expect([used.status, used.body.detail]).toEqual([409, expect.stringContaining(agent.id)]);
  expect((await patch({ custom_tools: null })).body.custom_tools).toEqual([]);
  expect((await api.send("DELETE", `/tools/${tool.id}`)).status).toBe(200);
});

test("a tool imported from an OpenAPI document at an address is created as it is, and calls the server beside the document", async () => {
  const { status, body } = await api.post("/tools/import", { url: `${server.url.origin}/openapi.yaml` });
  expect([status, body.problems]).toEqual([
    200,
    [{ operation: "POST /files", problem: "The body is image/png, and tools send JSON." }],
  ]);
  const [tool, ...others] = body.tools;
  expect(others).toEqual([]);
  expect((await api.get("/tools?search=getOrder")).body.tools).toEqual([]);
  const early = await api.post("/tools", tool);
  expect([early.status, early.body.errors[0].path]).toEqual([422, "auth.secret"]);
  await manage.post("/secrets", { name: tool.auth.secret, value: "value-of-the-key" });
  const made = await api.post("/tools", tool);
  expect(made.body).toMatchObject({ ...tool, retries: 2 });
  asked = [];
  await api.post(`/tools/${made.body.id}/try`, { arguments: { id: "A-1" } });
  expect(asked.map(({ url, headers }) => [url, headers.get("x-key")])).toEqual([
    [`${server.url.origin}/orders/A-1`, "value-of-the-key"],
  ]);
});

test.each([
  ["no source", {}, "url"],
  ["two sources", { curl: "curl https://shop.example", document: "openapi: 3.0.0" }, "url"],
  ["a document that is none", { document: "Hello" }, "document"],
  ["a private address", { url: "https://169.254.169.254/openapi.json" }, "url"],
  ["an address without a document", { url: `${server.url.origin}/long` }, "url"],
  ["more than 4 MiB", { url: `${server.url.origin}/long.yaml` }, "url"],
  ["a redirect elsewhere", { url: `${server.url.origin}/moved.yaml` }, "url"],
])("an import of %s is refused, naming the field", async (_what, body, path) => {
  const refused = await api.post("/tools/import", body);
  expect([refused.status, refused.body.errors?.[0].path]).toEqual([422, path]);
});
