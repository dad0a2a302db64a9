import { expect, test } from "bun:test";
import { HealthService } from "@parley/proto/grpc/health/v1/health.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { recordLog } from "@parley/testkit/recorded-log";
import { ServiceError } from "../src/errors.ts";
import { createClient } from "../src/rpc/client.ts";
import { serve } from "../src/rpc/server.ts";

test("a call logs one line with its owner and outcome, and nothing else of the request", async () => {
  const { log, lines } = recordLog("info");
  const handlers = {
    getOwner: async ({ ownerId }: { ownerId: string }) => {
      if (ownerId === "own_2") throw new ServiceError("not_found", "No zebra");
      return { owner: undefined };
    },
    createKey: async (_request: unknown, call: { replayed?: boolean }) => {
      call.replayed = true;
      return { key: undefined, apiKey: "vk_1" };
    },
    watchKeys: async function* () {},
  };
  const server = await serve(AccountServiceService, handlers, { address: "127.0.0.1:0", log });
  const accounts = createClient(AccountServiceService, { peer: "test", address: server.address });
  const origin = { requestId: "req-1", actor: { kind: "key", id: "key_1" } as const };
  await accounts.getOwner({ ownerId: "own_1" }, { origin });
  await failureOf(accounts.getOwner({ ownerId: "own_2" }, { origin }));
  await accounts.createKey({ ownerId: "own_1", name: "zebra", scopes: [], expiresAt: undefined }, { origin });
  for await (const _change of accounts.watchKeys({}, { origin }));
  const line = { level: "info", msg: "rpc", request_id: "req-1", actor: "key:key_1", ms: expect.any(Number) };
  const { getOwner, createKey, watchKeys } = AccountServiceService;
  await eventually(() =>
    expect(lines).toMatchObject([
      { ...line, rpc: getOwner.path, owner_id: "own_1", outcome: "ok" },
      { ...line, rpc: getOwner.path, owner_id: "own_2", outcome: "not_found" },
      { ...line, rpc: createKey.path, owner_id: "own_1", outcome: "ok", replayed: true },
      { ...line, rpc: watchKeys.path, outcome: "ok" },
    ]),
  );
  expect(JSON.stringify(lines)).not.toMatch(/zebra|vk_1/);
  accounts.close();
  await server.stop();
});

test("a health check, made every few seconds, logs no line", async () => {
  const { log, lines } = recordLog("info");
  const server = await serve(AccountServiceService, {}, { address: "127.0.0.1:0", log });
  const health = createClient(HealthService, { peer: "test", address: server.address });
  await health.check({ service: "" });
  health.close();
  await server.stop();
  expect(lines).toEqual([]);
});
