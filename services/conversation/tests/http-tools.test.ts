import { afterAll, beforeEach, expect, test } from "bun:test";
import {
  type HttpTool,
  ParameterPlace,
  Tool,
  ToolMethod,
  type ToolParameter,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { systemClock } from "@parley/shared/clock";
import { revealing } from "@parley/shared/domain/secret-keys";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { createEgress } from "@parley/shared/egress/egress";
import { ServiceError } from "@parley/shared/errors";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import { Webhook } from "standardwebhooks";
import { answerShares } from "../src/tools/answer-shares.ts";
import { callHttpTool, type HttpOutcome } from "../src/tools/http/call.ts";
import { oauthTokens } from "../src/tools/http/oauth-tokens.ts";

const { PARAMETER_PLACE_BODY, PARAMETER_PLACE_HEADER, PARAMETER_PLACE_PATH, PARAMETER_PLACE_QUERY } = ParameterPlace;
const { TOOL_METHOD_GET, TOOL_METHOD_POST, TOOL_METHOD_DELETE } = ToolMethod;
const SIGNING_SECRET = newSigningSecret();
const SECRETS = new Map([["api_key", "hunter22-long"]]);
const KEY = "cnv_1:tcl_1";

interface Heard {
  method: string;
  url: URL;
  headers: Headers;
  body: string;
}
let heard: Heard[] = [];
let answer: (request: Heard) => Response | Promise<Response> = () => Response.json({});

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const got = {
      method: request.method,
      url: new URL(request.url),
      headers: request.headers,
      body: await request.text(),
    };
    heard.push(got);
    return answer(got);
  },
});
const base = `http://127.0.0.1:${server.port}`;
const egress = createEgress({ allow: parseAllowList("127.0.0.1") });
let tokens = oauthTokens(egress.ask);
const answers = answerShares();

beforeEach(() => {
  heard = [];
  answer = () => Response.json({ ok: true });
  tokens = oauthTokens(egress.ask);
});
afterAll(async () => {
  egress.close();
  await server.stop(true);
});

interface Given {
  args?: Record<string, unknown>;
  variables?: Record<string, unknown>;
  timeoutMs?: number;
  signal?: AbortSignal;
  ownerId?: string;
  secrets?: ReadonlyMap<string, string>;
  attempted?: (attempts: number) => void;
}

function call(given: Partial<HttpTool>, { ownerId = "own_1", ...rest }: Given = {}): Promise<HttpOutcome> {
  const http = {
    ...Tool.fromPartial({ kind: { $case: "http", value: { url: base, method: TOOL_METHOD_GET } } }).kind?.value,
    ...given,
  };
  const tool = Tool.fromPartial({
    name: "orders",
    timeoutMs: rest.timeoutMs ?? 20_000,
    signingSecrets: [{ secret: SIGNING_SECRET }],
  });
  return callHttpTool(
    {
      ask: egress.ask,
      tokens,
      answers,
      clock: systemClock,
      revealSecrets: async (_, names) =>
        names.flatMap((name) => {
          const value = (rest.secrets ?? SECRETS).get(name);
          return value === undefined ? [] : [{ name, value }];
        }),
    },
    {
      ownerId,
      tool,
      http: http as HttpTool,
      idempotencyKey: KEY,
      conversationId: "cnv_1",
      args: rest.args ?? {},
      variables: rest.variables ?? {},
      signal: rest.signal ?? new AbortController().signal,
      ...(rest.attempted && { attempted: rest.attempted }),
    },
  );
}

function parameter(
  name: string,
  place: ParameterPlace,
  source: ToolParameter["source"],
  required = true,
): ToolParameter {
  return { name, in: place, required, source };
}
const byModel = { $case: "schema" as const, value: { type: "string" } };

test("a tool's parameters stand in the path, the query, the headers and a JSON body", async () => {
  await call(
    {
      method: TOOL_METHOD_POST,
      url: `${base}/v1/orders/{id}/lines?lang={{language}}`,
      headers: [{ name: "X-Shop", value: { $case: "text", value: "shop {{shop | main}}" } }],
      parameters: [
        parameter("id", PARAMETER_PLACE_PATH, byModel),
        parameter("tag", PARAMETER_PLACE_QUERY, { $case: "constant", value: ["a b", 2] }),
        parameter("X-Customer", PARAMETER_PLACE_HEADER, { $case: "variable", value: "Customer Id" }),
        parameter("quantity", PARAMETER_PLACE_BODY, byModel),
        parameter("key", PARAMETER_PLACE_BODY, { $case: "secret", value: "api_key" }),
        parameter("note", PARAMETER_PLACE_BODY, byModel, false),
      ],
    },
    { args: { id: "7/8 ü", quantity: 3 }, variables: { customer_id: 42, language: "pt&x=1" } },
  );
  const [request] = heard;
  expect(request?.method).toBe("POST");
  expect(request?.url.pathname).toBe("/v1/orders/7%2F8%20%C3%BC/lines");
  expect([...(request?.url.searchParams ?? [])]).toEqual([
    ["lang", "pt&x=1"],
    ["tag", "a b"],
    ["tag", "2"],
  ]);
  expect(request?.headers.get("x-shop")).toBe("shop main");
  expect(request?.headers.get("x-customer")).toBe("42");
  expect(JSON.parse(request?.body ?? "")).toEqual({ quantity: 3, key: "hunter22-long" });
});

test("every request has the call's idempotency key, its conversation, a trace and the signature of Standard Webhooks", async () => {
  await call(
    { method: TOOL_METHOD_POST, parameters: [parameter("id", PARAMETER_PLACE_BODY, byModel)] },
    { args: { id: "1" } },
  );
  await call({});
  for (const { headers, body } of heard) {
    expect(headers.get("idempotency-key")).toBe(KEY);
    expect(headers.get("webhook-id")).toBe(KEY);
    expect(headers.get("x-parley-conversation-id")).toBe("cnv_1");
    expect(headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    const at = new Date(Number(headers.get("webhook-timestamp")) * 1_000);
    expect(headers.get("webhook-signature")).toBe(new Webhook(SIGNING_SECRET).sign(KEY, at, body));
  }
});

test.each<[string, Partial<HttpTool>, Given, string]>([
  [
    "a required variable has no value",
    { parameters: [parameter("id", PARAMETER_PLACE_QUERY, { $case: "variable", value: "order" })] },
    {},
    'the variable "order" has no value',
  ],
  ["a variable of the URL has no value", { url: `${base}/{{order}}` }, {}, 'the variable "order" has no value'],
  [
    "a secret does not exist",
    { auth: { kind: { $case: "bearer", value: { secret: "gone" } } } },
    {},
    'the secret "gone" does not exist',
  ],
  [
    "a path value leads up",
    { url: `${base}/orders/{id}`, parameters: [parameter("id", PARAMETER_PLACE_PATH, byModel)] },
    { args: { id: ".." } },
    'must not be empty, "." or ".."',
  ],
  [
    "a path value leads up together with the template",
    { url: `${base}/orders/%2e{{id}}` },
    { variables: { id: "." } },
    'must not be empty, "." or ".."',
  ],
  [
    "a path value is empty",
    { url: `${base}/orders/{{id}}` },
    { variables: { id: "" } },
    'must not be empty, "." or ".."',
  ],
  [
    "a header's value has a line end",
    { parameters: [parameter("X-A", PARAMETER_PLACE_HEADER, byModel)] },
    { args: { "X-A": "1\r\nHost: evil" } },
    'the header "X-A"',
  ],
])("nothing is called when %s, and the model is told why", async (_, tool, given, told) => {
  const { forModel, isError, attempts } = await call(tool, given);
  expect(forModel).toContain(told);
  expect({ isError, attempts, requests: heard.length }).toEqual({ isError: true, attempts: 0, requests: 0 });
});

test("a default in the URL may have a slash and a question mark, which stay in its segment", async () => {
  await call({ url: `${base}/v1/{{file | "a/b?c={d}"}}/lines?lang={{language | "pt?"}}` });
  expect(heard[0]?.url.pathname).toBe("/v1/a%2Fb%3Fc%3D%7Bd%7D/lines");
  expect([...(heard[0]?.url.searchParams ?? [])]).toEqual([["lang", "pt?"]]);
});

test("no value changes the host of a request", async () => {
  await call({ url: `${base}/{{a}}?b={{b}}` }, { variables: { a: "@evil.example/..", b: "#?/\\" } });
  expect(heard[0]?.url.pathname).toBe("/%40evil.example%2F..");
  expect(heard[0]?.url.searchParams.get("b")).toBe("#?/\\");
});

test.each([429, 502, 503, 504])(
  "a call is repeated after %i with the same key, and its answer is the last one",
  async (status) => {
    answer = () =>
      heard.length === 1 ? new Response("busy", { status, headers: { "retry-after": "0" } }) : Response.json({ n: 2 });
    const { forModel, attempts } = await call({ retries: 1 });
    expect(attempts).toBe(2);
    expect(forModel).toBe('{"n":2}');
    expect(new Set(heard.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
  },
);

test("a call without retries, or with an answer that says that the request is wrong, is made once", async () => {
  answer = () => new Response("down", { status: 503 });
  expect(await call({ retries: 0 })).toMatchObject({ attempts: 1, status: 503, isError: true });
  answer = () => new Response("broken", { status: 500 });
  expect(await call({ retries: 3 })).toMatchObject({ attempts: 1, status: 500, isError: true });
});

test("a wait that would exceed the tool's time is not begun", async () => {
  answer = () => new Response("busy", { status: 429, headers: { "retry-after": "60" } });
  expect(await call({ retries: 3 }, { timeoutMs: 5_000 })).toMatchObject({ attempts: 1, status: 429 });
});

test("an error tells the model the status and the beginning of the body", async () => {
  answer = () => new Response("x".repeat(10_000), { status: 404 });
  const { forModel, isError } = await call({});
  expect(isError).toBe(true);
  expect(forModel).toStartWith("The request failed with HTTP status 404: xxx");
  expect(forModel).toEndWith("[The rest is left out.]");
  expect(forModel.length).toBe("The request failed with HTTP status 404: ".length + 4_096);
});

test("a server that does not answer is an error for the model once the tool's time is over", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  answer = () => promise;
  const { forModel, isError, attempts } = await call({}, { timeoutMs: 100 });
  expect({ forModel, isError, attempts }).toEqual({
    forModel: "The server did not answer within 0.1 s.",
    isError: true,
    attempts: 1,
  });
  resolve(new Response());
});

test("a call that is cancelled rejects with the reason of its signal", async () => {
  const cancelled = new AbortController();
  answer = () => {
    cancelled.abort(new Error("the caller spoke"));
    return Response.json({});
  };
  await expect(call({}, { signal: cancelled.signal })).rejects.toThrow("the caller spoke");
});

test("an answer longer than 256 KiB is cut off, and the model gets 32 KiB of it with a note that there is more", async () => {
  answer = () => new Response("y".repeat(1_000_000));
  const outcome = await call({});
  expect(outcome.answer?.length).toBe(262_144);
  expect(outcome.forModel.length).toBe(32_768);
  expect(outcome.forModel).toEndWith("y\n[The rest is left out.]");
  expect(outcome.isError).toBe(false);
});

test("the model sees only the kept fields, nothing of a hidden answer, and variables take theirs from the whole", async () => {
  answer = () => Response.json({ order: { id: 7, iban: "DE1" }, huge: "z".repeat(20_000) });
  const assignments = [
    { variable: "Order Id", pointer: "/order/id" },
    { variable: "gone", pointer: "/none" },
    { variable: "huge", pointer: "/huge" },
  ];
  const kept = await call({ result: { keep: ["/order/id"], hide: false }, assignments });
  expect(kept.forModel).toBe('{"order":{"id":7}}');
  expect(kept.assignments).toEqual({ order_id: 7 });
  expect(kept.dropped).toEqual(["huge"]);
  const hidden = await call({ result: { keep: [], hide: true }, assignments });
  expect(hidden.forModel).toBe("The request succeeded.");
  expect(hidden.assignments).toEqual({ order_id: 7 });
});

test.each([
  ["NUL", '"a\\u0000b"'],
  ["half of a character", '{"a":"\\ud800"}'],
  ["a number beyond a double", "[1e400]"],
  ["33 levels", `${"[".repeat(33)}${"]".repeat(33)}`],
  ["100,000 levels", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
])("a value with %s, which could not be stored, is not assigned to a variable", async (_, value) => {
  answer = () => new Response(`{"odd":${value},"even":{"id":7,"text":"\\\\ud800 \\ud83d\\ude00"},"none":null}`);
  const assignments = ["odd", "even", "none"].map((variable) => ({ variable, pointer: `/${variable}` }));
  const outcome = await call({ assignments, result: { keep: [], hide: true } });
  expect(outcome).toMatchObject({ isError: false, dropped: ["odd"] });
  expect(outcome.assignments).toEqual({ even: { id: 7, text: "\\ud800 😀" }, none: null });
});

test("null has no place in a query and a header, and a variable with it has no value", async () => {
  const parameters = [
    parameter("page", PARAMETER_PLACE_QUERY, byModel),
    parameter("X-Page", PARAMETER_PLACE_HEADER, byModel),
    parameter("size", PARAMETER_PLACE_QUERY, { $case: "variable", value: "size" }, false),
  ];
  await call(
    { url: `${base}/{{size | 5}}`, parameters },
    { args: { page: null, "X-Page": null }, variables: { size: null } },
  );
  expect(heard[0]?.url.href).toBe(`${base}/5`);
  expect(heard[0]?.headers.has("x-page")).toBe(false);
  const inBody = [parameter("page", PARAMETER_PLACE_BODY, byModel)];
  await call({ method: TOOL_METHOD_POST, parameters: inBody }, { args: { page: null } });
  expect(heard[1]?.body).toBe('{"page":null}');
});

test("an answer that must be filtered and is not JSON is an error, and the model does not see it", async () => {
  answer = () => new Response("<html>secret things</html>");
  const { forModel, isError } = await call({ result: { keep: ["/id"], hide: false } });
  expect({ forModel, isError }).toEqual({
    forModel: "The request succeeded, but its answer is not JSON.",
    isError: true,
  });
});

test("a secret that the server echoes is masked in what the model, the variables and the owner see", async () => {
  answer = ({ headers }) => Response.json({ token: headers.get("authorization"), basic: btoa("ada:hunter22-long") });
  const outcome = await call({
    auth: { kind: { $case: "bearer", value: { secret: "api_key" } } },
    assignments: [{ variable: "token", pointer: "/token" }],
  });
  expect(heard[0]?.headers.get("authorization")).toBe("Bearer hunter22-long");
  expect(outcome.forModel).toContain('"token":"Bearer [secret]"');
  expect(outcome.assignments).toEqual({ token: "Bearer [secret]" });
  expect(outcome.request?.headers.authorization).toBe("Bearer [secret]");
  const basic = await call({ auth: { kind: { $case: "basic", value: { username: "ada", secret: "api_key" } } } });
  expect(basic.forModel).toContain('"basic":"[secret]"');
  expect(JSON.stringify([outcome, basic])).not.toContain("hunter22");
});

test("a secret whose characters the server escapes does not reach variables and the model", async () => {
  answer = () => new Response('{"token":"\\u0068unter22\\u002dlong"}');
  const outcome = await call({
    auth: { kind: { $case: "bearer", value: { secret: "api_key" } } },
    result: { keep: ["/token"], hide: false },
    assignments: [{ variable: "token", pointer: "/token" }],
  });
  expect(outcome.forModel).toBe('{"token":"[secret]"}');
  expect(outcome.assignments).toEqual({ token: "[secret]" });
});

test("no part of a secret at the end of a cut answer is seen", async () => {
  const secret = "hunter22-long";
  answer = () => new Response(secret.repeat(100_000));
  const outcome = await call({ auth: { kind: { $case: "header", value: { name: "X-Key", secret: "api_key" } } } });
  expect(heard[0]?.headers.get("x-key")).toBe(secret);
  expect(outcome.answer?.replaceAll("[secret]", "")).not.toContain("hunt");
});

test("a GET follows one redirect on the same host, and no other redirect is followed", async () => {
  answer = ({ url }) =>
    url.pathname === "/a" ? Response.redirect(`${base}/b#top`) : Response.json({ at: url.pathname });
  expect((await call({ url: `${base}/a` })).forModel).toBe('{"at":"/b"}');
  const isRefused = async (tool: Partial<HttpTool>) => {
    const { isError, forModel } = await call({ retries: 3, ...tool });
    return isError && forModel.includes("redirect");
  };
  expect(await isRefused({ url: `${base}/a`, method: TOOL_METHOD_POST })).toBe(true);
  answer = () => Response.redirect("http://169.254.169.254/latest/meta-data");
  expect(await isRefused({})).toBe(true);
  answer = () => Response.redirect(`${base}/again`);
  expect(await isRefused({})).toBe(true);
  expect(heard.filter(({ url }) => url.pathname === "/again").length).toBe(1);
});

test("a private address is refused by the egress guard", async () => {
  const { forModel, isError } = await call({ url: "http://10.0.0.1/" });
  expect(isError).toBe(true);
  expect(forModel).toContain("must start with https://");
});

test("an OAuth token is fetched once for an owner and a value of the secret, and again after a 401", async () => {
  const issued: string[] = [];
  let accepted = "t1";
  answer = ({ url, headers }) => {
    if (url.pathname === "/token") {
      issued.push(headers.get("authorization") ?? "");
      return Response.json({ access_token: `t${issued.length}`, expires_in: 3_600 });
    }
    const isAccepted = headers.get("authorization") === `Bearer ${accepted}`;
    return isAccepted ? Response.json({ ok: true }) : new Response("no", { status: 401 });
  };
  const credentials = { tokenUrl: `${base}/token`, clientId: "ada", secret: "api_key", scope: "orders" };
  const auth = { kind: { $case: "oauth2ClientCredentials" as const, value: credentials } };
  await Promise.all([call({ auth }), call({ auth }), call({ auth })]);
  expect(issued).toEqual([`Basic ${btoa("ada:hunter22-long")}`]);
  accepted = "t2";
  expect(await call({ auth })).toMatchObject({ status: 200, attempts: 2 });
  expect(issued.length).toBe(2);
  await call({ auth }, { ownerId: "own_2" });
  await call({ auth }, { secrets: new Map([["api_key", "another-value"]]) });
  expect(issued.length).toBeGreaterThanOrEqual(4);
});

test("secrets are read once more when the account service goes away in the middle, and only then", async () => {
  const secrets = [{ name: "api_key", value: "hunter22-long" }];
  const failing = (...failures: ("unavailable" | "internal")[]) =>
    revealing({
      revealSecrets: async () => {
        const kind = failures.shift();
        if (kind) throw new ServiceError(kind, "away");
        return { secrets };
      },
    })("own_1", ["api_key"]);
  expect(await failing("unavailable")).toEqual(secrets);
  await expect(failing("unavailable", "unavailable")).rejects.toThrow("away");
  await expect(failing("internal")).rejects.toThrow("away");
});

test("an owner's tokens take no other owner's place", async () => {
  let issued = 0;
  answer = ({ url }) =>
    url.pathname === "/token"
      ? Response.json({ access_token: `token-${++issued}`, expires_in: 3_600 })
      : Response.json({ ok: true });
  const request = (ownerId: string, clientId: string) =>
    tokens.get({ ownerId, clientId, tokenUrl: `${base}/token`, secret: "api_key", clientSecret: "s", scope: "" });
  const other = await request("own_2", "ada");
  const first = await request("own_1", "ada");
  for (let client = 0; client < 100; client++) await request("own_1", `client-${client}`);
  expect(await request("own_2", "ada")).toBe(other);
  expect(await request("own_1", "ada")).not.toBe(first);
});

test("an issuer that refuses is told to the model, and the tool is not called", async () => {
  answer = () => Response.json({ error: "invalid_client" }, { status: 401 });
  const credentials = { tokenUrl: `${base}/token`, clientId: "ada", secret: "api_key" };
  const outcome = await call({
    url: `${base}/orders`,
    auth: { kind: { $case: "oauth2ClientCredentials", value: credentials } },
  });
  expect(outcome.forModel).toContain("gave no token: HTTP status 401 (invalid_client)");
  expect(heard.map(({ url }) => url.pathname)).toEqual(["/token"]);
});

test("an issuer whose answer breaks off is told to the model", async () => {
  const broken = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data: (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"access_token":'),
    },
  });
  const credentials = { tokenUrl: `http://127.0.0.1:${broken.port}/`, clientId: "ada", secret: "api_key" };
  const { forModel } = await call({ auth: { kind: { $case: "oauth2ClientCredentials", value: credentials } } });
  expect(forModel).toContain("Nothing was called: no token could be had.");
  broken.stop(true);
});

test("a DELETE has the same signature of an empty body as a GET", async () => {
  await call({ method: TOOL_METHOD_DELETE });
  expect(heard[0]?.method).toBe("DELETE");
  expect(heard[0]?.body).toBe("");
  expect(heard[0]?.headers.get("webhook-signature")).toStartWith("v1,");
});

test("the answers of an owner's tools under way have a share of the process, beyond which calls are cut off and told", async () => {
  const others = answers.tryHold("own_full", 16 * 1024 * 1024 - 1_000);
  answer = () => new Response("x".repeat(100_000));
  const cut = await call({ retries: 2 }, { ownerId: "own_full" });
  expect(cut).toMatchObject({
    isError: true,
    attempts: 1,
    forModel: "This account's tools receive too much at once, so this answer was cut off.",
  });
  expect((await call({}, { ownerId: "own_other" })).isError).toBe(false);
  others?.release();
  expect((await call({}, { ownerId: "own_full" })).isError).toBe(false);
  expect(answers.heldBytes()).toBe(0);
});
