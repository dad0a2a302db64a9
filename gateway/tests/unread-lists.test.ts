import { expect, test } from "bun:test";
import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import { Conversation } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { eventually } from "@parley/testkit/eventually";
import type { Operation } from "../src/openapi/operation.ts";
import { operationOf } from "../src/routes/endpoint.ts";
import { ownGateway } from "./own-gateway.ts";

const LONG = "a".repeat(3_900_000);

/** A gateway whose conversation service answers each list with one conversation, and the owners of the lists that it was asked for. */
function gatewayOf(ownerIds: readonly string[], text: string) {
  const asked: string[] = [];
  const keys = ownerIds.map((_, at) => `vk_${String(at).repeat(43)}`);
  const digests = keys.map((key) => new Bun.CryptoHasher("sha256").update(key).digest("hex"));
  const listConversations = async ({ ownerId }: { ownerId: string }) => {
    asked.push(ownerId);
    return { conversations: [Conversation.fromPartial({ transcript: { messages: [{ content: text }] } })], total: 1 };
  };
  const app = ownGateway({ conversations: { listConversations } }, async (digest) => ({
    keyId: `key_${digest.toString("hex")}`,
    ownerId: ownerIds[digests.indexOf(digest.toString("hex"))] ?? "",
    scopes: ["*"],
    status: KeyStatus.KEY_STATUS_ACTIVE,
    expiresAt: undefined,
    rateLimitPerMinute: 10_000,
  }));
  const list = (ownerId: string): Promise<Response> =>
    app.handle(
      new Request("http://gateway/v1/public/conversations", {
        headers: { "X-API-Key": keys[ownerIds.indexOf(ownerId)] ?? "" },
      }),
    );
  return { app, asked, list };
}

test("of an owner's hundred lists that nobody reads, four are asked for, and other owners' lists are answered", async () => {
  const { asked, list } = gatewayOf(["own_1", "own_2"], LONG);
  for (let at = 0; at < 100; at++) void list("own_1");
  await eventually(() => expect(asked).toHaveLength(4));
  expect((await list("own_2")).status).toBe(200);
  expect(asked.filter((ownerId) => ownerId === "own_1")).toHaveLength(4);
});

test("an owner's next list is asked for once an earlier one has been read", async () => {
  const { asked, list } = gatewayOf(["own_1", "own_2"], LONG);
  const first = await Promise.all(Array.from({ length: 4 }, () => list("own_1")));
  const fifth = list("own_1");
  await list("own_2");
  expect(asked.filter((ownerId) => ownerId === "own_1")).toHaveLength(4);
  expect((await first[0]?.text())?.length).toBeGreaterThan(LONG.length);
  expect((await fifth).status).toBe(200);
});

test("short lists, which nobody has to read first, are answered however many there are", async () => {
  const { list } = gatewayOf(["own_1"], "Hello");
  const answers = await Promise.all(Array.from({ length: 200 }, () => list("own_1")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test("every operation with pages counts as a list at the door", () => {
  const { app } = gatewayOf([], "");
  const operations = app.routes.flatMap(({ hooks }) => (operationOf(hooks) as Operation | undefined) ?? []);
  const paged = operations.filter(({ query }) => query?.properties.page_size !== undefined);
  expect(paged.length).toBeGreaterThan(5);
  expect(paged.filter(({ isList }) => !isList).map(({ id }) => id)).toEqual([]);
});
