import { afterAll, expect, test } from "bun:test";
import { ConversationStatus, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { makeDue, tellWorkers } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { COUNTS } from "../src/store/conversation-counts.ts";
import { numberEnded } from "../src/store/search/number-conversations.ts";
import { append, callOf, complete, lines, read, refusal, said } from "./calls-kit.ts";
import { allSentLater, eventsOf, pass, payloadOf } from "./events-kit.ts";
import { createAgent, inline, startTestChat, type TestAgent, transcript, turn } from "./kit.ts";
import { request } from "./lists-kit.ts";

const DAY_MS = 24 * 60 * 60_000;
const ATTEMPTS = 20;

/** Two owners whose agents, prompts and idempotency keys have the same names, and whose conversations have the same ids. */
const service = await startTestChat({ PARLEY_CALL_IDLE_MINUTES: "1" });
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
const [anna, ben] = await pair();
afterAll(async () => {
  await db.end();
  await service.stop();
});

function pair(given: Parameters<typeof createAgent>[1] = {}): Promise<[TestAgent, TestAgent]> {
  return Promise.all([createAgent(service, given), createAgent(service, given)]);
}

const keyOf = ({ ownerId }: TestAgent, conversationId: string) => ({ ownerId, conversationId });

/** Starts a call of both owners under one id; each says where it comes from. */
async function startBoth(agents: readonly TestAgent[] = [anna, ben], conversationId = newUuid()): Promise<string> {
  await Promise.all(
    agents.map((agent) =>
      service.chat.startConversation(callOf(agent, { conversationId, metadata: { of: agent.ownerId } })),
    ),
  );
  return conversationId;
}

/** What an owner says in its conversation, alternating with its agent. */
const words = ({ ownerId }: TestAgent, count = 4) =>
  Array.from({ length: count }, (_, at) => `${ownerId} says ${at + 1}`);

function sayAll(agent: TestAgent, conversationId: string, count = 4): Promise<number> {
  const messages = words(agent, count).map((text, at) => said(keyOf(agent, conversationId), at + 1, text));
  return append(service.chat, messages);
}

test("a conversation id is free for an owner whatever ids another has: concurrently, before, after and repeatedly", async () => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const conversationId = newUuid();
    const both = [anna, ben, anna, ben].map((agent) =>
      service.chat.startConversation(callOf(agent, { conversationId })),
    );
    const answers = await Promise.all(both);
    expect(answers.map(({ conversation }) => conversation?.ownerId)).toEqual(
      [anna, ben, anna, ben].map(({ ownerId }) => ownerId),
    );
    expect(new Set(answers.map(({ conversation }) => conversation?.id)).size).toBe(2);
  }
  const conversationId = newUuid();
  await service.chat.startConversation(callOf(anna, { conversationId }));
  const { conversation } = await service.chat.startConversation(callOf(ben, { conversationId }));
  expect(conversation).toMatchObject({ ownerId: ben.ownerId, agentId: ben.agentId });
  const third = newOwner();
  expect(await refusal(read(service.chat, { ownerId: third, conversationId }))).toMatchObject({ kind: "forbidden" });
  const nobodys = { ownerId: third, conversationId: newUuid() };
  expect(await refusal(read(service.chat, nobodys))).toMatchObject({ kind: "not_found" });
});

test("each owner's runtime writes and ends its own conversation, with concurrent streams", async () => {
  const conversationId = await startBoth();
  // Each has two streams, as when a runtime reconnects while its first stream is still open.
  await Promise.all([anna, ben, anna, ben].map((agent) => sayAll(agent, conversationId, 50)));
  for (const agent of [anna, ben]) {
    const heard = await lines(service.chat, keyOf(agent, conversationId));
    expect(heard.map((line) => line.replace(/^\w+: /, ""))).toEqual(words(agent, 50));
  }
  await complete(service.chat, keyOf(anna, conversationId), { outcome: Outcome.OUTCOME_ERROR, notes: "Anna's" });
  expect(await read(service.chat, keyOf(ben, conversationId))).toMatchObject({
    status: ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS,
    notes: undefined,
    metadata: { of: ben.ownerId },
  });
  await complete(service.chat, keyOf(ben, conversationId), { notes: "Ben's" });
  expect([
    await read(service.chat, keyOf(anna, conversationId)),
    await read(service.chat, keyOf(ben, conversationId)),
  ]).toMatchObject([
    { status: ConversationStatus.CONVERSATION_STATUS_FAILED, notes: "Anna's" },
    { status: ConversationStatus.CONVERSATION_STATUS_COMPLETED, notes: "Ben's" },
  ]);
});

test("chats with the same session id and idempotency key keep their own models, messages and replies", async () => {
  service.model.script = (call) => call.finish(`Heard ${call.body.messages.at(-1).content}`);
  const [sara, tom] = await pair();
  const sessionId = newUuid();
  for (const { ownerId, agentId } of [sara, tom]) {
    await service.sql`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      values (${ownerId}, ${sessionId}, ${`cnv_${ownerId}`}, ${agentId}, 'CHAT', 'IN_PROGRESS', ${service.clock.now()},
        ${service.clock.now()}, ${service.clock.now()})`;
  }
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, 1) };
  const ask = (agent: TestAgent) =>
    service.chat.completeTurn({ turn: turn(agent, `${agent.ownerId}!`, { sessionId, idempotency }) });
  const answers = await Promise.all([sara, tom].map(ask));
  expect(answers.map(({ response }) => response)).toEqual([`Heard ${sara.ownerId}!`, `Heard ${tom.ownerId}!`]);
  expect(await Promise.all([sara, tom].map(ask))).toEqual(answers.map((answer) => ({ ...answer, replayed: true })));
  for (const agent of [sara, tom]) {
    expect(await transcript(service, agent, sessionId)).toEqual([
      `user: ${agent.ownerId}!`,
      `assistant: Heard ${agent.ownerId}!`,
    ]);
    const { sessions, total } = await service.chat.listChatSessions({ ...agent, page: { number: 1, size: 10 } });
    expect([sessions.length, total, sessions[0]?.sessionId]).toEqual([1, 1, sessionId]);
  }
});

test("lists, counts, usage and searches, pending and indexed, show each owner its own", async () => {
  const owners = await pair();
  const ids = [await startBoth(owners), await startBoth(owners)];
  const [sara] = owners;
  for (const id of ids) for (const agent of owners) await sayAll(agent, id);
  // One owner has one more.
  await startBoth([sara], newUuid());
  const check = async () => {
    for (const [at, agent] of owners.entries()) {
      const all = await service.chat.listConversations(request(agent.ownerId, {}));
      expect([all.total, all.conversations.length]).toEqual([3 - at, 3 - at]);
      for (const id of ids) {
        const found = all.conversations.find(({ conversationId }) => conversationId === id);
        expect(found?.transcript?.messages.map(({ content }) => content)).toEqual(words(agent));
      }
      const own = await service.chat.listConversations(request(agent.ownerId, { search: `${agent.ownerId} says` }));
      expect(new Set(own.conversations.map(({ conversationId }) => conversationId))).toEqual(new Set(ids));
      const other = owners[1 - at]?.ownerId ?? "";
      expect(await service.chat.listConversations(request(agent.ownerId, { search: other }))).toMatchObject({
        total: 0,
      });
    }
  };
  await check();
  for (const id of ids) for (const agent of owners) await complete(service.chat, keyOf(agent, id));
  for (const { ownerId } of owners) {
    await numberEnded(db, ownerId);
    await foldChanges(db, ownerId, COUNTS);
  }
  await check();
  const today = new Date(Math.floor(service.clock.now().getTime() / DAY_MS) * DAY_MS);
  const to = new Date(today.getTime() + DAY_MS);
  const used = owners.map(({ ownerId }) => service.chat.countUsage({ ownerId, from: today, to }));
  expect((await Promise.all(used)).map(({ days }) => days[0]?.conversations)).toEqual([3, 2]);
});

test("each owner's webhook carries its own conversation and transcript", async () => {
  const conversationId = await startBoth();
  for (const agent of [anna, ben]) await sayAll(agent, conversationId);
  // In one statement, which enqueues the jobs of both.
  await service.sql`
    update conversations set status = 'COMPLETED', updated_at = ${service.clock.now()}
    where conversation_id = ${conversationId}`;
  await allSentLater(service);
  const events = eventsOf(service.dispatcher, conversationId);
  for (const agent of [anna, ben]) {
    const [event, ...others] = events.filter(({ ownerId }) => ownerId === agent.ownerId);
    const payload = payloadOf(event);
    expect(others).toEqual([]);
    expect(payload).toMatchObject({ agent_id: agent.agentId, conversation_id: conversationId });
    expect(payload.id).toBe((await read(service.chat, keyOf(agent, conversationId))).id);
    expect(payload.conversation_transcript.map(({ content }: { content: string }) => content)).toEqual(words(agent));
  }
});

test("each owner's conversation is analyzed on its own transcript and keeps its own answer", async () => {
  const owners = await pair({ analysis: { enabled: true, prompt: inline("Sum up."), schema: undefined } });
  service.model.script = (call) => {
    const asked = JSON.stringify(call.body.messages);
    call.finish(
      owners
        .filter(({ ownerId }) => asked.includes(ownerId))
        .map(({ ownerId }) => ownerId)
        .join(" and "),
    );
  };
  const conversationId = await startBoth(owners);
  for (const agent of owners) await sayAll(agent, conversationId);
  for (const agent of owners) await complete(service.chat, keyOf(agent, conversationId));
  await Promise.all(
    owners.map((agent) =>
      service.chat.analyzeConversation({ ...keyOf(agent, conversationId), idempotency: undefined }),
    ),
  );
  await eventually(async () => {
    await pass(service, 1);
    for (const agent of owners) {
      const { analysis } = await read(service.chat, keyOf(agent, conversationId));
      expect(analysis?.items).toMatchObject([{ name: "summary", value: agent.ownerId }]);
    }
  });
  await allSentLater(service);
});

test("one owner's silent call is closed, and another's with the same id continues", async () => {
  // This moves the clock, so the calls begin afterwards.
  await allSentLater(service);
  const conversationId = await startBoth();
  service.clock.advance(45_000);
  await sayAll(ben, conversationId);
  service.clock.advance(30_000);
  await eventually(async () => {
    await makeDue(service.sql, "close-silent-calls");
    const { status } = await read(service.chat, keyOf(anna, conversationId));
    expect(status).toBe(ConversationStatus.CONVERSATION_STATUS_FAILED);
  });
  const { status } = await read(service.chat, keyOf(ben, conversationId));
  expect(status).toBe(ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS);
  await complete(service.chat, keyOf(ben, conversationId));
  await allSentLater(service);
});

test("what is past one owner's retention is deleted and forgotten only for that owner", async () => {
  const owners = await pair();
  const [sara, tom] = owners;
  const conversationId = await startBoth(owners);
  for (const agent of owners) {
    await sayAll(agent, conversationId);
    await complete(service.chat, keyOf(agent, conversationId));
  }
  await allSentLater(service);
  await service.chat.setOwnerSettings({ ownerId: sara.ownerId, retentionDays: 1, revision: 1 });
  service.clock.advance(2 * DAY_MS);
  expect(await refusal(read(service.chat, keyOf(sara, conversationId)))).toMatchObject({ kind: "forbidden" });
  const told = () =>
    service.dispatcher.forgotten.filter(({ conversationIds }) => conversationIds.includes(conversationId));
  await eventually(async () => {
    await service.sql`
      update jobs set due_at = '2000-01-01', attempts = 0
      where job_id = 'delete-expired-conversations' or queue = 'forget-conversations'`;
    await tellWorkers(service.sql);
    expect(told()).not.toEqual([]);
  });
  expect(told().map(({ ownerId }) => ownerId)).toEqual([sara.ownerId]);
  const left = await service.sql`
    select owner_id, count(*)::integer as messages from messages where conversation_id = ${conversationId} group by owner_id`;
  expect(Array.from(left)).toEqual([{ owner_id: tom.ownerId, messages: 4 }]);
  expect((await lines(service.chat, keyOf(tom, conversationId))).length).toBe(4);
});
