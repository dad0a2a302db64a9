import { afterAll, beforeAll, expect, test } from "bun:test";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { CarrierRefusal, CarrierUnavailable } from "@parley/shared/carriers/errors";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { silentLogger } from "@parley/shared/log";
import { startFeatures } from "@parley/shared/process/feature";
import { createClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, type TestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { Sendable, ThreadedChannel } from "../src/channels/channel.ts";
import type { ThreadContext } from "../src/context.ts";
import { takeNews } from "../src/threads/take-news.ts";
import { threads } from "../src/threads/threads.ts";
import { type Fakes, startFakes } from "./whatsapp/fakes.ts";

// A channel that the service does not have: the threads need nothing but its row.

const sent: { to: string; content: Sendable }[] = [];
const counts: string[] = [];
/** Fail the next requests, one after the other. */
const failures: Error[] = [];

const channel: ThreadedChannel = {
  name: "pager",
  label: "Pager",
  conversationType: ConversationType.CONVERSATION_TYPE_CHAT,
  textCharactersMax: 20,
  perDay: { messages: 1_000, ofContact: 100, refusal: "Too many pages" },
  speaks: () => false,
  connect: async (ownerId, carrierId) =>
    carrierId === "car_pager"
      ? {
          ownerId,
          agent: async () => "agt_1",
          numbersWith: () => ({ fromMobileNumber: undefined, toMobileNumber: undefined }),
          send: async (to, _messageId, content) => {
            const failure = failures.shift();
            if (failure) throw failure;
            sent.push({ to, content });
            return { externalId: `page ${sent.length}`, contact: to };
          },
          upload: () => Promise.reject(new CarrierRefusal("none", "no voice notes")),
          download: () => Promise.reject(new CarrierRefusal("none", "no voice notes")),
        }
      : null,
  countSent: (outcome) => counts.push(outcome),
  countDropped: () => {},
};

let database: TestDatabase;
let db: Database;
let fakes: Fakes;
let clock: FakeClock;
let given: Omit<ThreadContext, "noteShares" | "channelOf">;
let stop: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.urls.messaging, name: "test" });
  fakes = await startFakes();
  clock = fakeClock();
  const connect = <D extends Definition>(definition: D, peer: "agent" | "conversation" | "voice") =>
    createClient(definition, { peer, address: fakes.addresses[peer] });
  const [agents, conversations, voices] = [
    connect(AgentServiceService, "agent"),
    connect(ConversationServiceService, "conversation"),
    connect(VoiceServiceService, "voice"),
  ];
  given = { db, agents, conversations, voices, clock, log: silentLogger };
  const stopping = new AbortController();
  const running = await startFeatures([threads(given, [channel], stopping.signal)], { ...given, pollMs: 20 });
  stop = async () => {
    stopping.abort();
    await running.stop();
    for (const client of [agents, conversations, voices]) client.close();
  };
});
afterAll(async () => {
  await stop();
  await fakes.stop();
  await db.end();
  await database.drop();
});

async function page(contact: string, text: string, ownerId = newOwner()) {
  const messageId = crypto.randomUUID();
  const message = { messageId, contact, content: { type: "text", text }, changes: null, sentAt: 0 } as const;
  await takeNews(given, channel, { ownerId, carrierId: "car_pager" }, { messages: [message], statuses: [] });
  clock.advance(2_000);
  return ownerId;
}

const partsTo = (contact: string) =>
  sent.filter(({ to }) => to === contact).map(({ content }) => (content.type === "text" ? content.text : content.type));

test("a channel's messages are answered by the same threads, in parts that fit it and in a conversation of its type", async () => {
  const ownerId = await page("ada@example.com", "Are you open on Sunday?");
  await eventually(() => expect(partsTo("ada@example.com").join(" ")).toBe("You said: Are you open on Sunday?"));
  await eventually(() => expect(counts).toHaveLength(partsTo("ada@example.com").length));
  expect(partsTo("ada@example.com").every((part) => part.length <= channel.textCharactersMax)).toBeTrue();
  const [started] = [...fakes.conversations.started.values()].filter((request) => request.ownerId === ownerId);
  expect(started?.type).toBe(channel.conversationType);
});

test("what a channel refuses is not sent again, and what it cannot take now is", async () => {
  counts.length = 0;
  failures.push(new CarrierUnavailable("down", null), new CarrierRefusal("7", "blocked"));
  await page("bob@example.com", "Hi");
  await eventually(async () => {
    const putOff = await db`
      select from outgoing_messages where contact = 'bob@example.com' and state = 'waiting' and attempts = 1`;
    expect(putOff).toHaveLength(1);
  });
  clock.advance(60_000);
  await eventually(() => expect(counts).toEqual(["failed"]));
  expect(partsTo("bob@example.com")).toEqual([]);
});
