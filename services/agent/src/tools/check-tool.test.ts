import { expect, test } from "bun:test";
import {
  ClientTool,
  HttpTool,
  McpTool,
  Tool,
  ToolMethod,
  type ToolParameter,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { PARAMETER_PLACES } from "@parley/shared/domain/tools";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { checkTool } from "./check-tool.ts";

const { path: PATH, query: QUERY, header: HEADER, body: BODY } = PARAMETER_PLACES;
const ALLOWED = parseAllowList("shop.local:8080");
const TEXT = { type: "string" };

function http(given: Partial<HttpTool> = {}, name = "look_up"): Tool {
  const value = {
    ...HttpTool.fromPartial({}),
    method: ToolMethod.TOOL_METHOD_POST,
    url: "https://shop.example/orders",
    ...given,
  };
  return { ...Tool.fromPartial({ name }), kind: { $case: "http", value } };
}

function client(parameters: ToolParameter[]): Tool {
  return {
    ...Tool.fromPartial({ name: "show" }),
    kind: { $case: "client", value: ClientTool.fromPartial({ parameters }) },
  };
}

function parameter(given: Partial<ToolParameter>): ToolParameter {
  return { name: "id", in: BODY, required: false, source: schema(), allowedFrom: undefined, ...given };
}

function schema(value: object = TEXT): ToolParameter["source"] {
  return { $case: "schema", value: value as { [key: string]: unknown } };
}

const withParameters = (...given: Partial<ToolParameter>[]) => http({ parameters: given.map(parameter) });
const withUrl = (url: string, ...given: Partial<ToolParameter>[]) => http({ url, parameters: given.map(parameter) });
const withHeader = (name: string, text = "x") => http({ headers: [{ name, value: { $case: "text", value: text } }] });
const inPath = { in: PATH, required: true };
const deep = (levels: number): object => (levels === 1 ? TEXT : { type: "array", items: deep(levels - 1) });

/** The path of the refusal; null if the tool is accepted. */
function refusalOf(tool: Tool): string | null {
  try {
    checkTool(tool, ALLOWED);
    return null;
  } catch (error) {
    return (error as { violations: { path: string }[] }).violations[0]?.path ?? "no path";
  }
}

const host = { name: "Host", value: { $case: "text" as const, value: "x" } };

function mcp(value: Partial<McpTool>): Tool {
  return Tool.fromPartial({ name: "shop", kind: { $case: "mcp", value: { ...McpTool.fromPartial({}), ...value } } });
}

const ROWS: [what: string, tool: Tool, path: string | null][] = [
  ["a name with a hyphen", http({}, "look-up"), "name"],
  ["a name of 65 letters", http({}, "a".repeat(65)), "name"],
  ["a name of 64 letters", http({}, "a".repeat(64)), null],
  ["the name of a built-in tool", http({}, "end_call"), "name"],
  ["the name of a built-in tool to come", http({}, "send_dtmf"), "name"],
  ["the tools of an MCP server", mcp({ url: "https://mcp.shop.example/" }), null],
  ["an MCP server without TLS", mcp({ url: "http://mcp.shop.example/" }), "url"],
  [
    "an MCP server with a header that Parley sets",
    mcp({ url: "https://mcp.shop.example/", headers: [host] }),
    "headers.Host",
  ],
  ["no method", http({ method: 0 }), "method"],
  ["an address without TLS", withUrl("http://shop.example/"), "url"],
  ["an address without TLS at an allowed host", withUrl("http://shop.local:8080/"), null],
  ["an address without TLS at another port of an allowed host", withUrl("http://shop.local:8081/"), "url"],
  ["a private address", withUrl("https://169.254.169.254/"), "url"],
  ["a private IPv6 address", withUrl("https://[::1]/"), "url"],
  ["an address with a password", withUrl("https://ann:pw@shop.example/"), "url"],
  ["a variable in the host", withUrl("https://{{host}}/"), "url"],
  ["a variable at the end of the host", withUrl("https://shop.example{{host}}/"), "url"],
  ["a variable in the port", withUrl("https://shop.example:{{port}}/"), "url"],
  ["a parameter in the host", withUrl("https://{id}.example/", inPath), "url"],
  ["a variable after backslashes", withUrl("https:\\\\{{host}}\\x"), "url"],
  ["a variable in path and query", withUrl("https://shop.example/{{shop}}?lang={{language}}"), null],
  ["a path parameter", withUrl("https://shop.example/orders/{id}", inPath), null],
  ["a path parameter that is not in the address", withUrl("https://shop.example/orders", inPath), "parameters.0.name"],
  ["a variable after a third slash, where a URL has its host", withUrl("https:///{{host}}/"), "url"],
  ["a variable after a tab in place of the host", withUrl("https://\t/{{host}}/"), "url"],
  ["a backslash in place of the host", withUrl("https://\\{{host}}/"), "url"],
  ["a backslash in the path, which browsers read as a slash", withUrl("https://shop.example/a\\{{id}}"), "url"],
  ["a tab in the path, which URLs leave out", withUrl("https://shop.example/\t{{id}}"), "url"],
  ["a path parameter without a definition", withUrl("https://shop.example/orders/{id}"), "url"],
  ["a path parameter that may be missing", withUrl("https://shop.example/{id}", { in: PATH }), "parameters.0.required"],
  ["a path parameter in the query", withUrl("https://shop.example/?id={id}", inPath), "url"],
  ["a single brace in the address", withUrl("https://shop.example/{id"), "url"],
  ["a parameter without a place", withParameters({ in: 0 }), "parameters.0.in"],
  ["a body parameter of a GET", http({ method: 1, parameters: [parameter({})] }), "parameters.0.in"],
  ["a parameter without a source", withParameters({ source: undefined }), "parameters.0"],
  ["two arguments of one name in different places", withParameters({ in: QUERY }, {}), "parameters.1.name"],
  ["one parameter twice", withParameters({ source: { $case: "constant", value: 1 } }, {}), "parameters.1.name"],
  [
    "a constant and an argument of one name in different places",
    withParameters({ in: QUERY, source: { $case: "constant", value: 1 } }, {}),
    null,
  ],
  ["an argument whose name models refuse", withParameters({ name: "a b" }), "parameters.0.name"],
  [
    "a constant with such a name",
    withParameters({ name: "filter[a b]", source: { $case: "constant", value: 1 } }),
    null,
  ],
  [
    "allowed_from without schema",
    withParameters({ source: { $case: "variable", value: "ids" }, allowedFrom: "ids" }),
    "parameters.0.allowed_from",
  ],
  ["allowed_from that is no variable", withParameters({ allowedFrom: "!" }), "parameters.0.allowed_from"],
  [
    "a variable without a letter",
    withParameters({ source: { $case: "variable", value: "--" } }),
    "parameters.0.variable",
  ],
  ["a schema of eight levels", withParameters({ source: schema(deep(8)) }), null],
  [
    "a schema of nine levels",
    withParameters({ source: schema(deep(9)) }),
    "parameters.0.schema.items.items.items.items.items.items.items.items",
  ],
  [
    "a schema of more than 16 KiB",
    withParameters({ source: schema({ description: "x".repeat(16_384) }) }),
    "parameters.0.schema",
  ],
  ["a type that does not exist", withParameters({ source: schema({ type: "text" }) }), "parameters.0.schema.type"],
  [
    "a regular expression",
    withParameters({ source: schema({ type: "string", pattern: "(a+)+$" }) }),
    "parameters.0.schema.pattern",
  ],
  [
    "a reference",
    withParameters({ source: schema({ $ref: "https://shop.example/schema" }) }),
    "parameters.0.schema.$ref",
  ],
  [
    "a property that is named like a forbidden keyword",
    withParameters({ source: schema({ type: "object", properties: { pattern: TEXT } }) }),
    null,
  ],
  [
    "enum, format and description",
    withParameters({ source: schema({ type: "string", enum: ["a"], format: "date", description: "A." }) }),
    null,
  ],
  ["an enum that is no list", withParameters({ source: schema({ enum: "a" }) }), "parameters.0.schema.enum"],
  ...[
    "Host",
    "content-type",
    "Transfer-Encoding",
    "connection",
    "Keep-Alive",
    "TE",
    "Trailer",
    "Expect",
    "Upgrade",
    "Accept-Encoding",
    "Idempotency-Key",
    "webhook-id",
    "traceparent",
    "X-Parley-Conversation-Id",
  ].flatMap((name): [string, Tool, string][] => [
    [`the header ${name}`, withHeader(name), `headers.${name}`],
    [
      `a parameter for the header ${name}`,
      withParameters({ name, in: HEADER, source: { $case: "constant", value: "x" } }),
      "parameters.0.name",
    ],
    [
      `the header ${name} for a secret`,
      http({ auth: { kind: { $case: "header", value: { name, secret: "key" } } } }),
      "auth.name",
    ],
  ]),
  [
    "a default with a slash, a question mark and braces in the URL",
    http({ url: 'https://shop.example/{{file | "a/b?c={d}"}}/lines' }),
    null,
  ],
  ["a header with a line break", withHeader("X-Note", "a\r\nHost: b"), "headers.X-Note"],
  ["a header with a space in its name", withHeader("X Note"), "headers.X Note"],
  ["a header with a variable", withHeader("X-Customer", "{{customer_id}}"), null],
  [
    "a header twice in different case",
    http({ headers: ["X-A", "x-a"].map((name) => ({ name, value: { $case: "text", value: "" } })) }),
    "headers.x-a",
  ],
  [
    "a header that is a parameter too",
    http({
      headers: [{ name: "X-A", value: { $case: "text", value: "" } }],
      parameters: [parameter({ name: "x-a", in: HEADER })],
    }),
    "parameters.0.name",
  ],
  [
    "Authorization beside a bearer token",
    http({
      headers: [{ name: "authorization", value: { $case: "secret", value: "key" } }],
      auth: { kind: { $case: "bearer", value: { secret: "key" } } },
    }),
    "headers.authorization",
  ],
  [
    "a user name with a colon",
    http({ auth: { kind: { $case: "basic", value: { username: "a:b", secret: "key" } } } }),
    "auth.username",
  ],
  [
    "a private issuer of tokens",
    http({
      auth: {
        kind: {
          $case: "oauth2ClientCredentials",
          value: { tokenUrl: "https://10.0.0.1/", clientId: "a", secret: "key", scope: undefined },
        },
      },
    }),
    "auth.token_url",
  ],
  ["a pointer without a slash", http({ result: { keep: ["status"], hide: false } }), "result.keep.0"],
  ["a pointer with a bad escape", http({ assignments: [{ variable: "a", pointer: "/~2" }] }), "assignments.0.pointer"],
  ["an assignment of the whole answer", http({ assignments: [{ variable: "a", pointer: "" }] }), null],
  [
    "an assignment to a system variable",
    http({ assignments: [{ variable: "System time", pointer: "" }] }),
    "assignments.0.variable",
  ],
  [
    "two assignments to one variable",
    http({ assignments: ["Order id", "order_id"].map((variable) => ({ variable, pointer: "" })) }),
    "assignments.1.variable",
  ],
  [
    "lines that are out of order",
    {
      ...http(),
      speech: {
        before: "auto",
        delayed: [2_000, 1_000].map((afterMs) => ({ afterMs, text: "Wait." })),
        sound: undefined,
      },
    },
    "speech.delayed.1.after_ms",
  ],
  ["a place in a client tool", client([parameter({})]), "parameters.0.in"],
  [
    "a client tool with a secret",
    client([parameter({ in: 0, source: { $case: "secret", value: "key" } })]),
    "parameters.0.secret",
  ],
  ["parameters in a client tool", client([parameter({ in: 0 })]), null],
];

test.each(ROWS.filter(([, , path]) => path !== null))(
  "a tool with %s is refused, naming the field",
  (_what, tool, path) => {
    expect(refusalOf(tool)).toBe(path);
  },
);

test.each(ROWS.filter(([, , path]) => path === null))("a tool with %s is accepted", (_what, tool) => {
  expect(refusalOf(tool)).toBeNull();
});
