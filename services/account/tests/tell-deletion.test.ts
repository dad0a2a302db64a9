import { afterAll, beforeAll, expect, test } from "bun:test";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { type RunningServer, serve } from "@parley/shared/rpc/server";
import { fakeClock } from "@parley/shared/testing/clock";
import { createTestDatabase, type TestDatabase } from "@parley/shared/testing/database";
import { eventually } from "@parley/shared/testing/eventually";
import { type AccountClient, newOwner, startAccountProcess } from "./kit.ts";

const clock = fakeClock();
let database: TestDatabase;
let servers: RunningServer[];
let account: { client: AccountClient; stop(): Promise<void> };
const told: string[] = [];
let isVoiceAway = false;
beforeAll(async () => {
  database = await createTestDatabase();
  const at = { address: "127.0.0.1:0", log: silentLogger };
  const forgetVoice = async ({ ownerId }: { ownerId: string }) => {
    if (isVoiceAway) throw new ServiceError("unavailable", "Away");
    told.push(`voice ${ownerId}`);
    return {};
  };
  const forgetMessages = async ({ ownerId }: { ownerId: string }) => {
    told.push(`messaging ${ownerId}`);
    return {};
  };
  servers = [
    await serve(VoiceServiceService, { forgetOwner: forgetVoice }, at),
    await serve(MessagingServiceService, { forgetOwner: forgetMessages }, at),
  ];
  const [voice, messaging] = servers;
  account = await startAccountProcess(database, clock, {
    env: { PARLEY_VOICE_ADDRESS: voice?.address ?? "", PARLEY_MESSAGING_ADDRESS: messaging?.address ?? "" },
  });
});
afterAll(async () => {
  await account.stop();
  for (const server of servers) await server.stop();
  await database.drop();
});

test("a service that is down when an owner is deleted is told once it is back, and each again after a minute", async () => {
  const { ownerId } = await newOwner(account.client);
  const timesOf = (service: string) => told.filter((each) => each === `${service} ${ownerId}`).length;
  isVoiceAway = true;
  await account.client.deleteOwner({ ownerId });
  await eventually(() => expect(timesOf("messaging")).toBe(1));
  expect(timesOf("voice")).toBe(0);
  isVoiceAway = false;
  await eventually(() => {
    clock.advance(10_000);
    expect([timesOf("voice"), timesOf("messaging")]).toEqual([2, 2]);
  });
});

test("no service is told about an owner that is not deleted", async () => {
  const [stays, goes] = [await newOwner(account.client), await newOwner(account.client)];
  await account.client.deleteOwner({ ownerId: goes.ownerId });
  await eventually(() => expect(told).toContain(`voice ${goes.ownerId}`));
  expect(told.filter((each) => each.endsWith(stays.ownerId))).toEqual([]);
});
