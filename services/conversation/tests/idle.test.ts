import { afterAll, expect, test } from "bun:test";
import { ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { eventually } from "@parley/testkit/eventually";
import { makeDue } from "@parley/testkit/jobs";
import type { ModelCall } from "@parley/testkit/scripted-model";
import { append, complete, read, said, startCall } from "./calls-kit.ts";
import { createAgent, failure, say, session, startTestChat } from "./kit.ts";

const service = await startTestChat({ PARLEY_CHAT_IDLE_MINUTES: "0.5", PARLEY_CALL_IDLE_MINUTES: "1" });
const agent = await createAgent(service);

afterAll(() => service.stop());

const {
  CONVERSATION_STATUS_IN_PROGRESS: IN_PROGRESS,
  CONVERSATION_STATUS_COMPLETED: COMPLETED,
  CONVERSATION_STATUS_DISCONNECTED: DISCONNECTED,
} = ConversationStatus;

async function statusOf(sessionId: string): Promise<ConversationStatus> {
  return (await session(service, agent, sessionId)).status;
}

/** Waits until the sweep has run at the present time, which shows in a session that it closes. */
async function swept(): Promise<void> {
  const { sessionId } = await service.chat.startChat({ ...agent, metadata: undefined });
  await service.sql`update conversations set last_activity_at = '2000-01-01' where conversation_id = ${sessionId}`;
  await makeDue(service.sql, "close-silent-chats");
  await eventually(async () => expect(await statusOf(sessionId)).toBe(DISCONNECTED));
}

test("a silent chat ends COMPLETED when the user wrote, otherwise DISCONNECTED; an active one stays open", async () => {
  const greeted = await service.chat.startChat({ ...agent, metadata: undefined });
  const written = await say(service, agent, "Hi");
  service.clock.advance(30_000);
  const active = await say(service, agent, "Hi");
  await swept();
  expect(await statusOf(written.sessionId)).toBe(IN_PROGRESS);
  service.clock.advance(1);
  await swept();
  expect(await statusOf(greeted.sessionId)).toBe(DISCONNECTED);
  expect(await statusOf(written.sessionId)).toBe(COMPLETED);
  expect(await statusOf(active.sessionId)).toBe(IN_PROGRESS);
  const ended = await failure(say(service, agent, "Wait", written.sessionId));
  expect(ended).toMatchObject({ kind: "condition", detail: "Session has ended" });
});

test("a running turn keeps a chat open however long it takes; a dead turn does not", async () => {
  const called = new Promise<ModelCall>((resolve) => {
    service.model.script = resolve;
  });
  const answer = say(service, agent, "Take your time");
  const call = await called;
  const [row] = await service.sql<{ id: string }[]>`
    select conversation_id as id from conversations where owner_id = ${agent.ownerId} and turn_id is not null`;
  const sessionId = row?.id ?? "";
  // Time passes, and the turn renews its lease.
  service.clock.advance(60_000);
  const alive = new Date(service.clock.now().getTime() + 15_000);
  await service.sql`update conversations set turn_until = ${alive} where conversation_id = ${sessionId}`;
  await swept();
  expect(await statusOf(sessionId)).toBe(IN_PROGRESS);
  call.finish("Done.");
  await answer;
  expect(await statusOf(sessionId)).toBe(IN_PROGRESS);

  await service.sql`
    update conversations set turn_id = gen_random_uuid(), turn_until = ${service.clock.now()}
    where conversation_id = ${sessionId}`;
  service.clock.advance(60_000);
  await swept();
  expect(await statusOf(sessionId)).toBe(COMPLETED);
});

test("more silent chats than one batch are all closed by one sweep", async () => {
  await service.sql`
    insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
    select ${agent.ownerId}, gen_random_uuid(), 'cnv_' || n, 'many', 'CHAT', 'IN_PROGRESS', '2001-01-01', '2001-01-01', '2001-01-01'
    from generate_series(1, 450) n`;
  await swept();
  const [row] = await service.sql`
    select count(*)::integer as open from conversations where agent_id = 'many' and status = 'IN_PROGRESS'`;
  expect(row?.open).toBe(0);
});

test("a call whose runtime goes silent fails with a note; an active or ended one does not", async () => {
  const [dead, alive, over] = [
    await startCall(service.chat, agent),
    await startCall(service.chat, agent),
    await startCall(service.chat, agent),
  ];
  await complete(service.chat, over);
  service.clock.advance(60_000);
  await append(service.chat, [said(alive, 1)]);
  service.clock.advance(1);
  await makeDue(service.sql, "close-silent-calls");
  await eventually(async () => {
    expect(await read(service.chat, dead)).toMatchObject({
      status: ConversationStatus.CONVERSATION_STATUS_FAILED,
      notes: "Nothing was heard from the voice runtime for 1 min, so the conversation was closed.",
    });
  });
  expect((await read(service.chat, alive)).status).toBe(IN_PROGRESS);
  expect((await read(service.chat, over)).status).toBe(COMPLETED);
  // The runtime may have been alive after all: its completion changes nothing.
  expect(await complete(service.chat, dead)).toEqual({ status: ConversationStatus.CONVERSATION_STATUS_FAILED });
});
