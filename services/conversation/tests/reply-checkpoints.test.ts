import { afterAll, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import type { ModelCall } from "@parley/testkit/scripted-model";
import {
  createAgent,
  failure,
  hear,
  leavable,
  listen,
  session,
  startTestChat,
  type TestAgent,
  transcript,
  turn,
} from "./kit.ts";

const service = await startTestChat({ PARLEY_REPLY_CHECKPOINT_MS: "10" });
afterAll(() => service.stop());

/** A streamed turn whose reply so far, "One two", is stored. */
async function checkpointedTurn(agent: TestAgent, given: Parameters<typeof turn>[2] = {}) {
  const called = new Promise<ModelCall>((resolve) => {
    service.model.script = resolve;
  });
  const { origin, leave } = leavable();
  const heard = listen(service.chat, turn(agent, "Hi", given), { origin });
  const { sessionId = "" } = (await heard.next()).value as { sessionId?: string };
  const pending = heard.next();
  const call = await called;
  call.piece("One ");
  call.piece("two");
  await pending;
  await isStored(agent, sessionId, "One two");
  return { heard, call, leave, sessionId };
}

async function isStored(agent: TestAgent, sessionId: string, reply: string): Promise<void> {
  await eventually(async () =>
    expect((await transcript(service, agent, sessionId)).at(-1)).toBe(`assistant: ${reply}`),
  );
}

const rowsOf = (sessionId: string) => service.sql`
  select seq, role, content, partial, message_count, output_tokens from messages
    join conversations using (owner_id, conversation_id)
  where conversation_id = ${sessionId} order by seq`;

async function usedBy({ ownerId }: TestAgent) {
  const { days } = await service.chat.countUsage({
    ownerId,
    from: new Date("2025-12-01"),
    to: new Date("2026-02-01"),
  });
  const sum = (of: "replies" | "outputTokens") => days.reduce((total, day) => total + Number(day[of]), 0);
  return { replies: sum("replies"), outputTokens: sum("outputTokens") };
}

test("a reply stored while streaming is one message and counted once", async () => {
  const agent = await createAgent(service);
  const { heard, call, sessionId } = await checkpointedTurn(agent);
  call.piece(" three");
  await isStored(agent, sessionId, "One two three");
  call.finish(" four");
  await Array.fromAsync(heard);
  service.model.script = (next) => next.finish("Yes.");
  await hear(service.chat, turn(agent, "Go on", { sessionId }));
  expect([...(await rowsOf(sessionId))]).toMatchObject([
    { seq: 1, role: "user" },
    { seq: 2, content: "One two three four", partial: false, message_count: 4, output_tokens: 7 },
    { seq: 3, role: "user" },
    { seq: 4, content: "Yes.", partial: false },
  ]);
  expect(await usedBy(agent)).toEqual({ replies: 2, outputTokens: 14 });
  expect((await session(service, agent, sessionId)).usage).toMatchObject({ replies: 2, outputTokens: 14 });
});

test("a reply whose client disconnects after a checkpoint is one partial message with the text so far", async () => {
  const agent = await createAgent(service);
  const { heard, call, leave, sessionId } = await checkpointedTurn(agent);
  leave();
  expect(await failure(Array.fromAsync(heard))).toMatchObject({ kind: "cancelled" });
  await call.left;
  await eventually(async () =>
    expect(
      await service.sql`select from conversations where conversation_id = ${sessionId} and turn_id is null`,
    ).toHaveLength(1),
  );
  expect([...(await rowsOf(sessionId))]).toMatchObject([
    { role: "user" },
    { content: "One two", partial: true, message_count: 2 },
  ]);
  expect((await usedBy(agent)).replies).toBe(1);
});

test("a turn that lost its session stores neither checkpoints nor its end", async () => {
  const agent = await createAgent(service);
  const { heard, call, sessionId } = await checkpointedTurn(agent);
  await service.sql`update conversations set turn_id = ${newUuid()} where conversation_id = ${sessionId}`;
  call.finish(" three");
  expect(await failure(Array.fromAsync(heard))).toMatchObject({ kind: "conflict", sessionId });
  expect([...(await rowsOf(sessionId))]).toMatchObject([
    { role: "user" },
    { content: "One two", partial: true, message_count: 2 },
  ]);
});

test("a keyed turn rerun after a checkpoint keeps the partial reply before its whole one", async () => {
  const agent = await createAgent(service);
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, 1) };
  const { heard, call, sessionId } = await checkpointedTurn(agent, { idempotency });
  // As if its process had died.
  await service.sql`update conversations set turn_id = ${newUuid()} where conversation_id = ${sessionId}`;
  service.clock.advance(15_001);
  service.model.script = (again) => again.finish("All of it.");
  expect((await hear(service.chat, turn(agent, "Hi", { idempotency }))).chunks.join("")).toBe("All of it.");
  call.finish(" three");
  await failure(Array.fromAsync(heard));
  expect([...(await rowsOf(sessionId))]).toMatchObject([
    { seq: 1, role: "user" },
    { seq: 2, content: "One two", partial: true, message_count: 3 },
    { seq: 3, content: "All of it.", partial: false },
  ]);
});
