import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { HttpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import { PARAMETER_PLACES, TOOL_METHODS } from "@parley/shared/domain/tools";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { checkTool } from "../check-tool.ts";
import { importOpenApi } from "./openapi.ts";

const NOBODY = parseAllowList("");
const { path: PATH, query: QUERY, header: HEADER, body: BODY } = PARAMETER_PLACES;

function imported(document: object | string, url?: string) {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  return importOpenApi({ text, url, path: "document" }, NOBODY);
}

/** A document with one operation beside a plain one. */
function documentWith(operation: object, rest: object = {}): object {
  return {
    openapi: "3.0.3",
    info: { title: "Shop", version: "1" },
    servers: [{ url: "https://api.shop.example/v1/" }],
    paths: { "/orders/{id}": { post: operation }, "/health": { get: { operationId: "health" } } },
    ...rest,
  };
}

/** What becomes of that operation. */
function toolOf(operation: object, rest: object = {}) {
  const { tools, problems } = imported(documentWith(operation, rest));
  const tool = tools.find(({ name }) => name !== "health");
  const http = tool?.kind?.value as HttpTool | undefined;
  return { tools, tool, http, problems: problems.map(({ problem }) => problem) };
}

function json(schema: object): object {
  return { requestBody: { content: { "application/json": { schema } } } };
}

function schemaOf(property: object, rest: object = {}) {
  const { http, problems } = toolOf({ ...ID, ...json({ properties: { it: property } }) }, rest);
  const source = http?.parameters.find(({ name }) => name === "it")?.source;
  return source?.$case === "schema" ? source.value : problems;
}

const ID = { parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }] };

test("each of the 296 operations of Box's public document is a tool that can be created, or a problem that says why not", async () => {
  const file = Bun.file(join(import.meta.dir, "testdata/box-openapi.json.gz"));
  const text = new TextDecoder().decode(Bun.gunzipSync(await file.bytes()));
  const { tools, problems } = imported(text);
  for (const tool of tools) checkTool(tool, NOBODY);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  expect(tools.length).toBeGreaterThan(270);
  const leftOut = problems.filter(({ problem }) => !problem.includes("is left out"));
  expect(tools.length + leftOut.length).toBe(296);
  expect(tools.find(({ name }) => name === "get_files_id")?.kind?.value).toMatchObject({
    method: TOOL_METHODS.GET,
    url: "https://api.box.com/2.0/files/{file_id}",
    auth: { kind: { $case: "bearer", value: { secret: "box_platform_api_oauth2security" } } },
  });
});

test("an operation's parameters of path, query, header and body become those of its tool", () => {
  const operation = {
    operationId: "orders/change-one",
    summary: "Change an order",
    description: "Changes its count.",
    parameters: [
      ...ID.parameters,
      { name: "dry_run", in: "query", description: "Only checks.", schema: { type: "boolean" } },
      { name: "X-Shop", in: "header", schema: { type: "string" } },
      { name: "Accept", in: "header", required: true, schema: { type: "string" } },
    ],
    ...json({
      type: "object",
      required: ["count"],
      properties: { count: { type: "integer" }, no: { readOnly: true } },
    }),
  };
  const { tool, http, problems } = toolOf(operation);
  expect(tool).toMatchObject({ name: "orders_change_one", description: "Change an order\n\nChanges its count." });
  expect(http).toMatchObject({ method: TOOL_METHODS.POST, url: "https://api.shop.example/v1/orders/{id}" });
  const schema = (value: object) => ({ $case: "schema", value });
  expect(http?.parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toMatchObject([
    { name: "X-Shop", in: HEADER, required: false, source: schema({ type: "string" }) },
    { name: "count", in: BODY, required: true, source: schema({ type: "integer" }) },
    { name: "dry_run", in: QUERY, required: false, source: schema({ type: "boolean", description: "Only checks." }) },
    { name: "id", in: PATH, required: true, source: schema({ type: "string" }) },
  ]);
  expect(problems).toEqual([]);
});

test("a document in YAML gives the same tools as in JSON", () => {
  const document = documentWith({ ...ID, summary: "Get: an order" });
  expect(imported(Bun.YAML.stringify(document, null, 2))).toEqual(imported(document));
});

test("names that models refuse, built-in ones and repeated ones become names of their own", () => {
  const ids = ["end_call", "list", "List", "a".repeat(70), "a".repeat(71), "1-2", undefined];
  const paths = ids.map((operationId, at) => [`/path/${at}`, { get: { ...(operationId && { operationId }) } }]);
  const { tools } = imported(documentWith({}, { paths: Object.fromEntries(paths) }));
  expect(tools.map(({ name }) => name)).toEqual([
    ...["end_call_2", "list", "List_2", "a".repeat(64), `${"a".repeat(62)}_2`, "operation", "get_path_6"],
  ]);
});

describe("a schema", () => {
  test.each([
    ["with nullable", { type: "string", nullable: true, enum: ["a"] }, { type: ["string", "null"], enum: ["a", null] }],
    ["with an exclusive bound", { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ["with an example", { type: "string", example: "a" }, { type: "string", examples: ["a"] }],
    ["with a pattern", { type: "string", pattern: "(a+)+$", xml: {} }, { type: "string" }],
    ["of 3.1", { type: ["string", "null"], const: "a" }, { type: ["string", "null"], const: "a" }],
    ["with a reference", { $ref: "#/components/schemas/A~1b", description: "B" }, { type: "string", description: "B" }],
    [
      "that is all of one",
      { allOf: [{ $ref: "#/components/schemas/A~1b" }], title: "T" },
      { type: "string", title: "T" },
    ],
    [
      "that is a reference or null",
      { nullable: true, allOf: [{ $ref: "#/components/schemas/A~1b" }] },
      { type: ["string", "null"] },
    ],
    [
      "that adds properties to a reference",
      { allOf: [{ $ref: "#/components/schemas/O" }], properties: { b: {} } },
      { allOf: [{ properties: { a: {} } }], properties: { b: {} } },
    ],
    [
      "of 3.1 that adds properties to a reference",
      { $ref: "#/components/schemas/O", properties: { b: {} } },
      { allOf: [{ properties: { a: {} } }], properties: { b: {} } },
    ],
    ["with a property that is only read", { properties: { a: { readOnly: true } }, required: ["a"] }, {}],
  ])("%s is one that tools can use", (_what, given, schema) => {
    expect(
      schemaOf(given, { components: { schemas: { "A/b": { type: "string" }, O: { properties: { a: {} } } } } }),
    ).toEqual(schema);
  });

  const wide = {
    properties: Object.fromEntries([..."abcdefgh"].map((name) => [name, { $ref: "#/components/schemas/Wide" }])),
  };
  const list = (levels: number): object => (levels === 0 ? {} : { items: list(levels - 1) });
  test.each([
    ["contains itself", { $ref: "#/components/schemas/Node" }, "contains itself"],
    ["refers to itself", { $ref: "#/components/schemas/Self" }, "contains itself"],
    ["has nine levels", list(8), "more than 8 levels"],
    ["doubles with each level", { $ref: "#/components/schemas/L1" }, "more than 16 KiB"],
    ["is longer than 16 KiB", { description: "a".repeat(17_000) }, "more than 16 KiB"],
    ["is in another document", { $ref: "https://shop.example/schema.json" }, "another document"],
    ["is nowhere", { $ref: "#/components/schemas/Nowhere" }, "does not have"],
    ["is of an unknown type", { type: "text" }, "type"],
    ["is inherited by every object", { $ref: "#/components/schemas/constructor" }, "does not have"],
  ])("that %s is a problem of its operation alone", (_what, schema, problem) => {
    const levels = [1, 2, 3, 4, 5, 6].map((level) => [
      `L${level}`,
      {
        properties: Object.fromEntries(
          [..."abcdefgh"].map((name) => [name, { $ref: `#/components/schemas/L${level + 1}` }]),
        ),
      },
    ]);
    const schemas = {
      ...Object.fromEntries(levels),
      Node: { properties: { next: { $ref: "#/components/schemas/Node" } } },
      Self: { $ref: "#/components/schemas/Self" },
      L7: wide,
      Wide: { type: "string" },
    };
    const needed = { ...ID, ...json({ properties: { it: schema }, required: ["it"] }) };
    const { tools, problems } = toolOf(needed, { components: { schemas } });
    expect(tools.map(({ name }) => name)).toEqual(["health"]);
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });
});

test("an optional parameter that cannot be used is left out, which a problem says", () => {
  const parameters = [
    ...ID.parameters,
    { name: "filter[name]", in: "query", schema: {} },
    { name: "sid", in: "cookie" },
  ];
  const { http, problems } = toolOf({ parameters });
  expect(http?.parameters.map(({ name }) => name)).toEqual(["id"]);
  expect(problems).toEqual([
    "The cookie parameter sid is left out: tools have none in a cookie.",
    "The query parameter filter[name] is left out: models cannot use its name.",
  ]);
});

test.each([
  ["YAML that contains itself", "a: &a [*a]"],
  [
    "YAML whose aliases multiply",
    `a: &a [${"x,".repeat(9)}]\nb: &b [${"*a,".repeat(9)}]\nc: &c [${"*b,".repeat(9)}]\nd: [${"*c,".repeat(9)}]`,
  ],
])("%s in a schema is a problem of its operation, and nothing is exhausted", (_what, yaml) => {
  const text = `openapi: 3.1.0\npaths:\n  /x:\n    get:\n      parameters:\n        - name: q\n          in: query\n          required: true\n          schema:\n            default:\n${yaml.replaceAll(/^/gm, " ".repeat(14))}`;
  const { tools, problems } = imported(`${text}\nservers: [{ url: 'https://shop.example' }]`);
  expect(tools).toEqual([]);
  expect(problems).toHaveLength(1);
});

test("a document that refers to a large part again and again is read up to a limit", () => {
  const big = { name: "q", in: "query", schema: { type: "string", description: "a".repeat(15_000) } };
  const get = { parameters: [{ $ref: "#/components/parameters/Big" }] };
  const paths = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`/${at}`, { get }]));
  const { tools, problems } = imported(documentWith({}, { paths, components: { parameters: { Big: big } } }));
  expect(JSON.stringify(tools).length).toBeLessThan(20_000_000);
  expect(problems.at(-1)).toEqual({ operation: "GET /1499", problem: expect.stringContaining("too large") });
});

test.each([
  ["form data", { requestBody: { content: { "multipart/form-data": {} } } }, "The body is multipart/form-data"],
  ["a list as body", json({ type: "array" }), "The body has no named properties"],
  [
    "a cookie that it needs",
    { parameters: [...ID.parameters, { name: "sid", in: "cookie", required: true }] },
    "sid is required",
  ],
  ["a private server", { ...ID, servers: [{ url: "https://10.0.0.1" }] }, "10.0.0.1"],
  ["a relative server", { ...ID, servers: [{ url: "/v2" }] }, "address of its server"],
  ["a path parameter that nobody defines", {}, "{id}"],
])("an operation with %s is no tool, and the problem says why", (_what, operation, problem) => {
  const { tools, problems } = toolOf(operation);
  expect(tools.map(({ name }) => name)).toEqual(["health"]);
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

test("an operation's server has its variables' defaults, and may be relative to where the document was read", () => {
  const servers = [
    {
      url: "https://{region}.shop.example/{version}",
      variables: { region: { default: "eu" }, version: { default: "v2" } },
    },
  ];
  expect(toolOf({ ...ID, servers }).http?.url).toBe("https://eu.shop.example/v2/orders/{id}");
  const relative = documentWith({ ...ID, operationId: "order" }, { servers: [{ url: "../v3" }] });
  const { tools } = imported(relative, "https://docs.shop.example/api/openapi.json");
  expect(tools[0]?.kind?.value).toMatchObject({ url: "https://docs.shop.example/v3/orders/{id}" });
});

const token = { secret: "shop_it" };
const oauth = (flows: object) => ({ type: "oauth2", flows });
test.each([
  ["a bearer token", { type: "http", scheme: "Bearer" }, { $case: "bearer", value: token }],
  ["a password", { type: "http", scheme: "basic" }, { $case: "basic", value: { username: "REPLACE_ME", ...token } }],
  [
    "a key in a header",
    { type: "apiKey", in: "header", name: "X-Key" },
    { $case: "header", value: { name: "X-Key", ...token } },
  ],
  ["a sign-in in a browser", oauth({ authorizationCode: {} }), { $case: "bearer", value: token }],
  [
    "client credentials",
    oauth({ clientCredentials: { tokenUrl: "https://login.shop.example/token" } }),
    {
      $case: "oauth2ClientCredentials",
      value: { tokenUrl: "https://login.shop.example/token", clientId: "REPLACE_ME", scope: "read write", ...token },
    },
  ],
])("%s becomes the tool's auth, with a secret that must then be made", (_what, scheme, auth) => {
  const components = { securitySchemes: { It: scheme } };
  const { http } = toolOf({ ...ID, security: [{}, { It: ["read", "write"] }] }, { components });
  expect(http?.auth?.kind as object | undefined).toEqual(auth);
});

test("a key in the query becomes a parameter that is a secret", () => {
  const components = { securitySchemes: { It: { type: "apiKey", in: "query", name: "api_key" } } };
  const { http } = toolOf({ ...ID, security: [{ It: [] }] }, { components });
  expect(http?.parameters).toContainEqual(
    expect.objectContaining({ name: "api_key", in: QUERY, source: { $case: "secret", value: "shop_it" } }),
  );
});

test.each([
  ["", "must be an OpenAPI document"],
  ["[]", "must be an OpenAPI document"],
  ["{", "neither JSON nor YAML"],
  ["[".repeat(200_000), "neither JSON nor YAML"],
  ['{"swagger":"2.0"}', "This one is Swagger 2.0"],
  ['{"openapi":"4.0.0"}', "version 3.0 or 3.1"],
])("%p is refused, naming the field", (text, message) => {
  expect(() => imported(text)).toThrow(
    expect.objectContaining({ kind: "invalid", message: expect.stringContaining(message) }),
  );
});
