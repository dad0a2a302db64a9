import { afterAll, expect, test } from "bun:test";
import {
  ConversationServiceService,
  type SetOwnerSettingsRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner, startAccountProcess } from "./kit.ts";

const clock = fakeClock();
let told: SetOwnerSettingsRequest[] = [];
let isAway = false;
const database = await createTestDatabase();
const setOwnerSettings = async (request: SetOwnerSettingsRequest) => {
  if (isAway) throw new ServiceError("unavailable", "Away");
  told.push(request);
  return {};
};
const conversations = await serve(
  ConversationServiceService,
  { setOwnerSettings },
  { address: "127.0.0.1:0", log: silentLogger },
);
const account = await startAccountProcess(database, clock, { conversationAddress: conversations.address });
afterAll(async () => {
  await account.stop();
  await conversations.stop();
  await database.drop();
});

test("the conversation service knows a new retention before the change is answered, and the newer revision wins", async () => {
  const { ownerId } = await newOwner(account.client);
  told = [];
  await account.client.updateSettings({ ownerId, retentionDays: 30 });
  expect(told).toContainEqual({ ownerId, retentionDays: 30, revision: 1 });
  await account.client.updateSettings({ ownerId, retentionDays: 7 });
  expect(told).toContainEqual({ ownerId, retentionDays: 7, revision: 2 });
  expect(told.at(-1)?.retentionDays).toBe(7);
});

test("a change is stored while the conversation service is down, and sent once it is back", async () => {
  const { ownerId } = await newOwner(account.client);
  told = [];
  isAway = true;
  const answer = await account.client.updateSettings({ ownerId, retentionDays: 3 });
  expect(answer).toEqual({ settings: { retentionDays: 3 } });
  isAway = false;
  await eventually(() => {
    clock.advance(30_000);
    expect(told).toContainEqual({ ownerId, retentionDays: 3, revision: 1 });
  });
});

test("a deleted owner has the default again; for one who never chose, nothing is sent", async () => {
  const [chose, never] = [await newOwner(account.client), await newOwner(account.client)];
  await account.client.updateSettings({ ownerId: chose.ownerId, retentionDays: 1000 });
  told = [];
  await account.client.deleteOwner({ ownerId: never.ownerId });
  await account.client.deleteOwner({ ownerId: chose.ownerId });
  await eventually(() =>
    expect(told).toContainEqual({ ownerId: chose.ownerId, retentionDays: undefined, revision: 2 }),
  );
  expect(told.filter(({ ownerId }) => ownerId === never.ownerId)).toEqual([]);
});
