import { afterAll, beforeAll, expect, test } from "bun:test";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { type RunningServer, serve } from "@parley/shared/rpc/server";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, type TestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { countOwnedRows } from "@parley/testkit/owners";
import { type AccountClient, newKey, newOwner, startAccountProcess } from "./kit.ts";

const clock = fakeClock();
let database: TestDatabase;
let db: Database;
let servers: RunningServer[];
let account: { client: AccountClient; stop(): Promise<void> };
const told: string[] = [];
let isVoiceAway = false;

const SERVICES = ["voice", "messaging", "agent", "prompt", "webhook-dispatcher", "knowledge", "conversation"];

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.urls.account, name: "test" });
  const at = { address: "127.0.0.1:0", log: silentLogger };
  const told = (service: string) => ({ forgetOwner: hear(service) });
  servers = [
    await serve(VoiceServiceService, told("voice"), at),
    await serve(MessagingServiceService, told("messaging"), at),
    await serve(AgentServiceService, told("agent"), at),
    await serve(PromptServiceService, told("prompt"), at),
    await serve(WebhookDispatcherServiceService, told("webhook-dispatcher"), at),
    await serve(KnowledgeServiceService, told("knowledge"), at),
    await serve(ConversationServiceService, told("conversation"), at),
  ];
  const [voice = "", messaging = "", agent = "", prompt = "", webhook = "", knowledge = "", conversation = ""] =
    servers.map(({ address }) => address);
  account = await startAccountProcess(database, clock, {
    env: {
      PARLEY_VOICE_ADDRESS: voice,
      PARLEY_MESSAGING_ADDRESS: messaging,
      PARLEY_AGENT_ADDRESS: agent,
      PARLEY_PROMPT_ADDRESS: prompt,
      PARLEY_WEBHOOK_ADDRESS: webhook,
      PARLEY_KNOWLEDGE_ADDRESS: knowledge,
      PARLEY_CONVERSATION_ADDRESS: conversation,
    },
  });
});
afterAll(async () => {
  await account.stop();
  for (const server of servers) await server.stop();
  await db.end();
  await database.drop();
});

function hear(service: string) {
  return async ({ ownerId }: { ownerId: string }) => {
    if (service === "voice" && isVoiceAway) throw new ServiceError("unavailable", "Away");
    told.push(`${service} ${ownerId}`);
    return { needsCarriers: false };
  };
}

/** How often each service was told of the owner's deletion. */
function timesTold(ownerId: string): Record<string, number> {
  return Object.fromEntries(
    SERVICES.map((service) => [service, told.filter((each) => each === `${service} ${ownerId}`).length]),
  );
}

function allTold(times: number): Record<string, number> {
  return Object.fromEntries(SERVICES.map((service) => [service, times]));
}

test("a service that is down when an owner is deleted is told once it is back, and each again after a minute", async () => {
  const { ownerId } = await newOwner(account.client);
  isVoiceAway = true;
  await account.client.deleteOwner({ ownerId });
  await eventually(() => expect(timesTold(ownerId)).toEqual({ ...allTold(1), voice: 0 }));
  isVoiceAway = false;
  await eventually(() => {
    clock.advance(10_000);
    expect(timesTold(ownerId)).toEqual(allTold(2));
  });
});

test("no service is told about an owner that is not deleted", async () => {
  const [stays, goes] = [await newOwner(account.client), await newOwner(account.client)];
  await account.client.deleteOwner({ ownerId: goes.ownerId });
  await eventually(() => expect(timesTold(goes.ownerId)).toEqual(allTold(1)));
  expect(timesTold(stays.ownerId)).toEqual(allTold(0));
});

test("a minute after its deletion an owner has its own row left and the revision of its retention", async () => {
  const { client } = account;
  const [{ ownerId }, stays] = [await newOwner(client), await newOwner(client)];
  for (const [at, each] of [ownerId, stays.ownerId].entries()) {
    await newKey(client, each);
    await client.setPassword({ ownerId: each, password: "correct horse battery staple" });
    const mobileNumber = { mobileNumber: `+1415555018${at}`, telephonyProvider: "TWILIO" };
    await client.addMobileNumber({ ownerId: each, mobileNumber });
    await client.updateSettings({ ownerId: each, retentionDays: 30 });
    await db`insert into idempotency_claims values (${each}, 'once', '', now())`;
  }
  await client.deleteOwner({ ownerId });
  await eventually(async () => {
    clock.advance(10_000);
    const { jobs: _, ...left } = await countOwnedRows(db, ownerId);
    expect(left).toEqual({ owners: 1, settings: 1 });
  });
  const { jobs: _, ...kept } = await countOwnedRows(db, stays.ownerId);
  expect(kept).toEqual({ api_keys: 1, idempotency_claims: 1, mobile_numbers: 1, owners: 1, passwords: 1, settings: 1 });
});
