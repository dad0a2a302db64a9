import { afterAll, expect, test } from "bun:test";
import { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { findStoredBytes, STORED_BYTES_FOLD } from "@parley/shared/stored-bytes/fold";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { deleteConversations, deleteOldestMessages } from "../src/store/expired.ts";
import { append, type CallKey, callOf, complete, lines, said, startCall } from "./calls-kit.ts";
import { speakTurn } from "./converse-kit.ts";
import { createAgent, failure, hear, inline, say, startTestChat, type TestAgent, turn } from "./kit.ts";
import { insert, stored } from "./lists-kit.ts";

const BYTES_MAX = 1_000_000;
const FULL = {
  kind: "conflict",
  detail:
    "Your conversations would have more than 1,000,000 bytes together: keep them for fewer days (Settings), or have the operator raise PARLEY_CONVERSATIONS_OWNER_BYTES",
};

const service = await startTestChat({
  PARLEY_CONVERSATIONS_OWNER_BYTES: String(BYTES_MAX),
  PARLEY_REPLY_CHECKPOINT_MS: "10",
});
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
afterAll(async () => {
  await db.end();
  await service.stop();
});

async function fold(ownerId: string): Promise<void> {
  while ((await foldChanges(db, ownerId, STORED_BYTES_FOLD)) > 0);
}

/** What is stored, row by row. */
async function countedBytes(ownerId: string): Promise<number> {
  const [row] = await db<[{ bytes: number }]>`
    select (
      select coalesce(sum(500 + octet_length(content) + coalesce(octet_length(knowledge::text), 0)), 0) from messages where owner_id = ${ownerId}
    ) + (
      select coalesce(sum(1000 + octet_length(metadata::text) + octet_length(variables::text)
        + coalesce(octet_length(notes), 0) + coalesce(octet_length(analysis::text), 0)
        + coalesce(octet_length(scheduled_call::text), 0)), 0)
      from conversations where owner_id = ${ownerId}
    ) + (select coalesce(sum(bytes), 0) from tool_calls where owner_id = ${ownerId}) as bytes`;
  return Number(row.bytes);
}

async function expectExact(ownerId: string): Promise<number> {
  const bytes = await countedBytes(ownerId);
  expect(await findStoredBytes(db, ownerId)).toBe(bytes);
  return bytes;
}

/** Puts an owner at the limit with a conversation, and waits until the service knows. */
async function fill(agent: TestAgent): Promise<string> {
  const row = stored({ ...agent, messages: ["x".repeat(BYTES_MAX)], createdAt: service.clock.now() });
  await insert(service.sql, [row]);
  await fold(agent.ownerId);
  await eventually(async () => expect(await failure(service.chat.checkRoom(agent))).toMatchObject(FULL));
  return row.conversationId;
}

/** A spoken turn, heard whole. */
async function speak(call: CallKey, sequence: number): Promise<void> {
  const spoken = speakTurn(service.chat, call, sequence);
  const { text } = await spoken.reply();
  spoken.heard(text);
  await spoken.stored();
}

async function makeRoom({ ownerId }: TestAgent, conversationId: string): Promise<void> {
  await db.begin((tx) => deleteConversations(tx, ownerId, [conversationId]));
  await fold(ownerId);
  await eventually(() => service.chat.checkRoom({ ownerId }));
}

test("an owner's sum is exact after every kind of write, and nothing is left when everything is deleted", async () => {
  const agent = await createAgent(service, { firstMessagePrompt: "Welcome!", tools: { set_language: true } });
  const { ownerId } = agent;
  await service.chat.startChat({ ...agent, metadata: { about: "ö" } });
  await fold(ownerId);
  await expectExact(ownerId);
  const { sessionId } = await say(service, agent, "Hi");
  await service.chat.completeTurn({ turn: turn(agent, "Again", { sessionId, metadata: { name: "Zoë" } }) });
  await Promise.all(Array.from({ length: 12 }, () => say(service, agent, "Together")));
  await expectExact(ownerId);
  service.model.script = (call) => {
    service.model.script = (next) => next.finish("Hola.");
    call.callTool("set_language", '{"language":"es"}');
  };
  await hear(service.chat, turn(agent, "Español"));
  service.model.script = async (call) => {
    call.piece("One ");
    call.piece("more ");
    await eventually(async () => expect(await db`select from messages where content like 'One%'`).not.toBeEmpty());
    call.finish("two, and three.");
  };
  await hear(service.chat, turn(agent, "Count"));
  await expectExact(ownerId);
  service.model.script = (call) => call.finish("Fine.");
  const { draftId } = await service.agents.createDraft({
    change: { ...UpdateAgentRequest.fromPartial(agent), prompt: inline("Be loud.") },
  });
  await service.chat.completeTurn({ turn: turn(agent, "Try", { draftId }) });
  await expectExact(ownerId);
  const call = await startCall(service.chat, agent);
  await append(service.chat, [said(call, 1), said(call, 2)]);
  await speak(call, 3);
  await complete(service.chat, call, { notes: "A note" });
  await db`update conversations set analysis = '[{"name": "summary"}]' where owner_id = ${ownerId}`;
  await expectExact(ownerId);
  await fold(ownerId);
  expect(await expectExact(ownerId)).toBeGreaterThan(0);

  await deleteOldestMessages(db, { ownerId, conversationId: sessionId }, 2);
  await expectExact(ownerId);
  const all = await db<{ id: string }[]>`select conversation_id as id from conversations where owner_id = ${ownerId}`;
  const ids = all.map(({ id }) => id);
  await db.begin((tx) => deleteConversations(tx, ownerId, ids));
  expect(await expectExact(ownerId)).toBe(0);
  await fold(ownerId);
  expect(await db`select from stored_bytes where owner_id = ${ownerId}`).toBeEmpty();
});

test("an owner's sum is exact while turns are stored and folded at the same time", async () => {
  const agent = await createAgent(service);
  const { ownerId } = agent;
  const turns = Promise.all(Array.from({ length: 8 }, () => say(service, agent)));
  await Promise.all([fold(ownerId), fold(ownerId)]);
  await turns;
  await expectExact(ownerId);
  await fold(ownerId);
  await expectExact(ownerId);
});

test("a large reply's bytes are folded soon, however few changes there are", async () => {
  const agent = await createAgent(service);
  service.model.script = (call) => call.finish("word ".repeat(20_000));
  await say(service, agent);
  expect([
    ...(await db`select queue from jobs where owner_id = ${agent.ownerId} and job_id = 'fold-stored-bytes'`),
  ]).toEqual([{ queue: "fold-stored-bytes" }]);
});

test("a full owner's new sessions, turns and calls are refused before a model is asked; other owners' are not", async () => {
  const [agent, other] = [await createAgent(service), await createAgent(service)];
  const { sessionId } = await say(service, agent);
  await fill(agent);
  const asked = service.model.calls.length;
  const refusals = await Promise.all([
    failure(say(service, agent)),
    failure(hear(service.chat, turn(agent))),
    failure(service.chat.startChat({ ...agent, metadata: undefined })),
    failure(service.chat.getCallSetup({ ...agent, dynamicVariables: {} })),
    failure(service.chat.startConversation(callOf(agent))),
  ]);
  for (const refusal of refusals) expect(refusal).toMatchObject(FULL);
  expect(await failure(say(service, agent, "More", sessionId))).toEqual({ ...FULL, sessionId });
  expect(service.model.calls).toHaveLength(asked);
  await say(service, other);
});

test("what began before its owner was full is stored to its end, and a key's reply is replayed", async () => {
  const agent = await createAgent(service);
  const call = await startCall(service.chat, agent);
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  const keyed = Turn.fromPartial({ ...turn(agent, "Hi"), idempotency });
  const { response } = await service.chat.completeTurn({ turn: keyed });
  const asked = Promise.withResolvers<{ finish(text: string): void }>();
  service.model.script = asked.resolve;
  const running = say(service, agent, "Slow");
  const model = await asked.promise;
  service.model.script = (next) => next.finish("Still here.");
  await fill(agent);
  model.finish("Done.");
  expect((await running).response).toBe("Done.");
  await append(service.chat, [said(call, 1), said(call, 2)]);
  await speak(call, 3);
  await service.chat.startConversation(callOf(agent, { conversationId: call.conversationId }));
  await complete(service.chat, call);
  expect(await lines(service.chat, call)).toHaveLength(4);
  expect((await service.chat.completeTurn({ turn: keyed })).response).toBe(response);
  // A call that was accepted before and has ended without a conversation.
  await service.chat.startConversation(callOf(agent, { agentMayBeGone: true }));
  expect(await failure(say(service, agent))).toMatchObject(FULL);
});

test("an owner whose conversations are deleted has room again", async () => {
  const agent = await createAgent(service);
  const conversationId = await fill(agent);
  expect(await failure(say(service, agent))).toMatchObject(FULL);
  await makeRoom(agent, conversationId);
  await say(service, agent);
});

test("an owner sees what is stored, and how much may be", async () => {
  const agent = await createAgent(service);
  const from = service.clock.now();
  const to = new Date(from.getTime() + 86_400_000);
  const usage = (ownerId: string) => service.chat.countUsage({ ownerId, from, to });
  await say(service, agent);
  await fold(agent.ownerId);
  expect(await usage(agent.ownerId)).toMatchObject({
    storedBytes: await countedBytes(agent.ownerId),
    storedBytesMax: BYTES_MAX,
  });
  expect((await usage(newOwner())).storedBytes).toBe(0);
});
