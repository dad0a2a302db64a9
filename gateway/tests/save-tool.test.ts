import { expect, test } from "bun:test";
import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOptions } from "@parley/shared/rpc/client/sender";
import { ownGateway } from "./own-gateway.ts";

const MCP = { name: "shop", description: "Sells.", type: "mcp", url: "https://mcp.shop.example/mcp" };

test("a request that saves an MCP tool waits for a server that takes twenty seconds", async () => {
  const waits: (number | undefined)[] = [];
  const save = async (_request: object, { timeoutMs }: CallOptions) => {
    waits.push(timeoutMs);
    throw new ServiceError("conflict", "There is one");
  };
  const getTool = async () => ({ tool: undefined });
  const app = ownGateway(
    { agents: { getTool, createTool: save, updateTool: save, acceptToolChanges: save } },
    async () => ({
      ...{ keyId: "key_1", ownerId: "own_1", scopes: ["*"], expiresAt: undefined, rateLimitPerMinute: 100 },
      status: KeyStatus.KEY_STATUS_ACTIVE,
    }),
  );
  const send = (method: string, path: string, body: object) =>
    app.handle(
      new Request(`http://parley.test/v1/public/tools${path}`, {
        method,
        headers: { "x-api-key": `vk_${"a".repeat(43)}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  for (const [method, path, body] of [
    ["POST", "/", MCP],
    ["PATCH", "/tol_1", { type: "mcp", tools: ["find"] }],
    ["POST", "/tol_1/accept", {}],
  ] as const) {
    const answer = await send(method, path, body);
    expect({ path, status: answer.status, text: await answer.text() }).toMatchObject({ path, status: 409 });
  }
  for (const waited of waits) expect(waited).toBeGreaterThan(25_000);
});
