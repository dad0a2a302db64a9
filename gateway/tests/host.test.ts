import { afterAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { silentLogger } from "@parley/shared/log";
import { readGatewayConfig } from "../src/config.ts";
import { startGateway } from "../src/server.ts";

const NOWHERE = "127.0.0.1:1";

const config = readGatewayConfig({
  PARLEY_ACCOUNT_ADDRESS: NOWHERE,
  PARLEY_AGENT_ADDRESS: NOWHERE,
  PARLEY_PROMPT_ADDRESS: NOWHERE,
  PARLEY_CONVERSATION_ADDRESS: NOWHERE,
  PARLEY_WEBHOOK_ADDRESS: NOWHERE,
  PARLEY_VOICE_ADDRESS: NOWHERE,
  PARLEY_MESSAGING_ADDRESS: NOWHERE,
  PARLEY_KNOWLEDGE_ADDRESS: NOWHERE,
});
const gateway = await startGateway({ ...config, PORT: 0 }, silentLogger);

afterAll(() => gateway.stop());

/** The gateway's answer to a request with exactly this head. */
async function ask(...head: string[]): Promise<{ status: number; body: string }> {
  const port = Number(gateway.address.split(":").at(-1));
  const socket = connect(port, "127.0.0.1", () =>
    socket.write(`${[...head, "Connection: close"].join("\r\n")}\r\n\r\n`),
  );
  const chunks: Buffer[] = await socket.toArray();
  const [start = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  return { status: Number(start.split(" ")[1]), body };
}

test.each(["a", "api", "api:8080", "[::1]", "a.b.example"])(
  "a gateway that is called %s finds its routes",
  async (host) => {
    const { status, body } = await ask("GET /v1/public/agents HTTP/1.1", `Host: ${host}`);
    expect([status, JSON.parse(body)]).toEqual([401, { detail: "API key is missing" }]);
  },
);

test.each(["", "a/b", "a b", "a?b#c"])("the Host header %j is a bad request, not an internal error", async (host) => {
  const { status, body } = await ask("POST /v1/public/agents HTTP/1.1", `Host: ${host}`, "Content-Length: 0");
  expect([status, JSON.parse(body)]).toEqual([400, { detail: "The Host header is missing or not a host" }]);
});

test.each([
  { head: ["GET /v1/public/agents HTTP/1.1", "Host: api", "Host: other"] },
  { head: ["GET /healthz HTTP/1.1", "Host: api", "hOST: api"] },
  { head: ["GET /nowhere HTTP/1.1", "Host: api, other"] },
])("more than one host is refused: $head", async ({ head }) => {
  const { status, body } = await ask(...head);
  expect([status, JSON.parse(body)]).toEqual([400, { detail: "The Host header must be given once" }]);
});

test("an impossible port in the Host header is ignored", async () => {
  const { status } = await ask("GET /v1/public/agents HTTP/1.1", "Host: api:99999", "X-API-Key: wrong");
  expect(status).toBe(401);
});

test("an HTTP/1.0 probe without a Host header is answered", async () => {
  expect(await ask("GET /healthz HTTP/1.0")).toMatchObject({ status: 200, body: "ok\n" });
});
