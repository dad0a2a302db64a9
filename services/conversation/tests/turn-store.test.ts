import { afterAll, expect, spyOn, test } from "bun:test";
import { newId, newUuid } from "@parley/shared/ids";
import { newOwner } from "@parley/testkit/owners";
import type { SessionKey } from "../src/store/session-key.ts";
import type { StoredReply, TurnEnd } from "../src/store/turns/finish-turns.ts";
import type { ToolCallRow } from "../src/store/turns/kept-tool-calls.ts";
import type { NewTurn } from "../src/store/turns/take-turns.ts";
import { listToolCalls } from "../src/store/turns/tool-calls.ts";
import { turnStore } from "../src/store/turns/turns-together.ts";
import { startTestLists } from "./lists-kit.ts";

const NOW = new Date("2026-02-03T12:00:00Z");
const UNTIL = new Date("2026-02-03T12:00:30Z");
const END: TurnEnd = { checkpointed: false, language: null, ended: null, key: null, done: true };
const REPLACES: TurnEnd = { ...END, checkpointed: true };
const MAX_BYTES = 100_000;
/** More than one statement takes. */
const MANY = 40;

const lists = await startTestLists();
const store = turnStore(lists.db);
afterAll(() => lists.stop());

function newTurn(key: SessionKey, message: string): NewTurn {
  const metadata = { said: message.slice(0, 20) };
  return {
    ...key,
    ...{
      turnId: newUuid(),
      type: "CHAT" as const,
      agentId: "agt_any",
      agentVersion: 1,
      draftId: null,
      message,
      name: message,
      metadata,
      variables: metadata,
      now: NOW,
      until: UNTIL,
    },
  };
}

function reply(content: string): StoredReply {
  const by = { provider: "p", model: "m", promptName: null, promptVersion: null };
  const usage = { inputTokens: 1, outputTokens: undefined };
  const whole = { toolCalls: [], partial: false, partialReason: null, knowledge: null };
  return { content, ...by, ...whole, usage, costUsdMicros: 12, firstWordMs: null, totalMs: 1 };
}

function called(name: string): ToolCallRow {
  const told = { name, arguments: "{}", result: "", kind: "builtin" as const, state: "SUCCEEDED" as const };
  const times = { startedMs: 1, durationMs: 0, round: 1, place: 0, attempts: 1 };
  return {
    toolCallId: newId("tcl"),
    ...told,
    isOutside: false,
    isCut: false,
    status: null,
    note: null,
    mock: null,
    ...times,
  };
}

function newSession(): SessionKey {
  return { ownerId: newOwner(), conversationId: newUuid() };
}

async function begin(key: SessionKey, message: string): Promise<void> {
  const turn = newTurn(key, message);
  await store.insertSessionWithTurn({ ...turn, id: newId("cnv") });
  expect(await store.finishTurn({ ...turn, replySeq: 2 }, reply(`Re: ${message}`), NOW, END)).toBe(true);
}

async function transcript({ ownerId, conversationId }: SessionKey): Promise<string[]> {
  const rows = await lists.db<{ content: string }[]>`
    select content from messages where owner_id = ${ownerId} and conversation_id = ${conversationId} order by seq`;
  return rows.map(({ content }) => content);
}

test("concurrent turns of many owners are each stored with their own messages, replies and results", async () => {
  const sessions = Array.from({ length: MANY }, newSession);
  await Promise.all(sessions.map((key, at) => begin(key, `${at}`)));
  await Promise.all(
    sessions.map(async (key, at) => {
      const turn = newTurn(key, `${at} again`);
      const taken = await store.takeTurn(turn, MAX_BYTES);
      expect(taken).toEqual({
        seq: 3,
        replySeq: 4,
        agentId: "agt_any",
        agentVersion: 1,
        variables: { said: `${at} again` },
        language: null,
        hasToolCalls: false,
        agentPath: null,
        injected: null,
        isQuiet: false,
        isStarting: false,
        isTest: false,
        earlier: [
          { role: "user", content: `${at}` },
          { role: "assistant", content: `Re: ${at}` },
        ],
      });
      const end: TurnEnd = {
        ...END,
        ended: at % 3 === 0 ? "COMPLETED" : null,
        checkpointed: at % 2 === 0,
        language: `x-${at}`,
      };
      const said = { ...reply(`Re: ${at} again`), toolCalls: at % 5 === 0 ? [called(`${at}`)] : [] };
      expect(await store.finishTurn({ ...turn, replySeq: 4 }, said, NOW, end)).toBe(true);
    }),
  );
  for (const [at, key] of sessions.entries()) {
    expect(await transcript(key)).toEqual([`${at}`, `Re: ${at}`, `${at} again`, `Re: ${at} again`]);
    const [row] = await lists.db`
      select status, language, turn_id, message_count, has_tool_calls from conversations where conversation_id = ${key.conversationId}`;
    const status = at % 3 === 0 ? "COMPLETED" : "IN_PROGRESS";
    expect(row).toMatchObject({ status, language: `x-${at}`, turnId: null, messageCount: 4 });
    const calls = await listToolCalls(lists.db, key, NOW);
    const { toolCallId: _, ...call } = called(`${at}`);
    expect(calls).toEqual(at % 5 === 0 ? [{ seq: 4, ...call, toolCallId: expect.any(String) }] : []);
    expect(row?.hasToolCalls).toBe(at % 5 === 0);
  }
});

test("a turn whose session a transaction holds does not delay the turns of others", async () => {
  const [held, ...others] = Array.from({ length: MANY }, newSession) as [SessionKey, ...SessionKey[]];
  await Promise.all([held, ...others].map((key) => begin(key, "Hi")));
  const holder = await lists.db.reserve();
  await holder`begin`;
  await holder`select from conversations where conversation_id = ${held.conversationId} for update`;
  const waiting = store.takeTurn(newTurn(held, "Me too"), MAX_BYTES);
  const taken = await Promise.all(others.map((key) => store.takeTurn(newTurn(key, "Me too"), MAX_BYTES)));
  expect(taken.every((each) => each?.seq === 3)).toBe(true);
  await holder`commit`;
  holder.release();
  expect(await waiting).toMatchObject({ seq: 3 });
});

test("one owner's long replies and checkpoints leave connections to others, however long they take to store", async () => {
  const ownerId = newOwner();
  const turns = Array.from({ length: MANY }, () => newTurn({ ownerId, conversationId: newUuid() }, "Hi"));
  for (const turn of turns) await store.insertSessionWithTurn({ ...turn, id: newId("cnv") });
  let storing: Promise<unknown> = Promise.resolve();
  await lists.db.begin(async (tx) => {
    await tx`select 1 from conversations where owner_id = ${ownerId} for update`;
    const storeAll = turns.map(async (turn) => {
      const open = { ...turn, replySeq: 2 };
      const checkpoint = store.storeCheckpoint({ ...open, reply: reply("long ".repeat(10_000)), now: NOW });
      return Promise.all([checkpoint, store.finishTurn(open, reply("long ".repeat(20_000)), NOW, REPLACES)]);
    });
    storing = Promise.all(storeAll);
    const other = newSession();
    await begin(other, "long ".repeat(10_000));
    expect(await transcript(other)).toHaveLength(2);
  });
  await storing;
  for (const turn of turns) expect((await transcript(turn))[1]).toHaveLength(100_000);
});

test("a long reply is stored as it is, without the driver escaping it", async () => {
  const key = newSession();
  const turn = newTurn(key, "Hi");
  await store.insertSessionWithTurn({ ...turn, id: newId("cnv") });
  const content = '"Say \\ and {this}, or null" '.repeat(20_000);
  using replace = spyOn(String.prototype, "replace");
  expect(await store.finishTurn({ ...turn, replySeq: 2 }, reply(content), NOW, END)).toBe(true);
  const escaped = replace.mock.contexts.map((text) => String(text).length);
  expect(Math.max(0, ...escaped)).toBeLessThan(16 * 1024);
  expect(await transcript(key)).toEqual(["Hi", content]);
});

test("a turn that cannot be stored fails alone", async () => {
  const results = await Promise.allSettled(
    Array.from({ length: MANY }, (_, at) => {
      const turn = newTurn(newSession(), at === 7 ? "\u0000" : "Hi");
      return store.insertSessionWithTurn({ ...turn, id: newId("cnv") });
    }),
  );
  expect(results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual([7]);
});

test("exactly one of concurrent turns in a session is taken", async () => {
  const key = newSession();
  await begin(key, "Hi");
  const taken = await Promise.all(
    Array.from({ length: MANY }, (_, at) => store.takeTurn(newTurn(key, `${at}`), MAX_BYTES)),
  );
  expect(taken.filter((each) => each !== null)).toHaveLength(1);
  expect(await transcript(key)).toHaveLength(3);
});

test("a reply whose turn was taken over by another is not stored, whatever shares its statement", async () => {
  const sessions = Array.from({ length: MANY }, newSession);
  await Promise.all(sessions.map((key) => begin(key, "Hi")));
  const stored = await Promise.all(
    sessions.map(async (key, at) => {
      const turn = newTurn(key, "Again");
      expect(await store.takeTurn(turn, MAX_BYTES)).not.toBeNull();
      const turnId = at % 2 === 0 ? turn.turnId : newUuid();
      return store.finishTurn({ ...turn, turnId, replySeq: 4 }, reply("Yes"), NOW, END);
    }),
  );
  expect(stored).toEqual(sessions.map((_, at) => at % 2 === 0));
});

test("turns taken in one statement read the earlier messages of long sessions separately", async () => {
  const sessions = Array.from({ length: MANY }, newSession);
  await Promise.all(sessions.map((key) => begin(key, "word ".repeat(3_000))));
  const taken = await Promise.all(sessions.map((key) => store.takeTurn(newTurn(key, "Again"), MAX_BYTES)));
  expect(taken.every((each) => each?.seq === 3)).toBe(true);
  expect(taken.some((each) => each?.earlier === null)).toBe(true);
});

test("checkpoints, leases and ends of silent turns that come together share statements, each with its own values", async () => {
  const ownerId = newOwner();
  const keys = Array.from({ length: MANY }, (_, at) =>
    at % 2 === 0 ? { ownerId, conversationId: newUuid() } : newSession(),
  );
  const turns = keys.map((key) => newTurn(key, "Hi"));
  await Promise.all(turns.map((turn) => store.insertSessionWithTurn({ ...turn, id: newId("cnv") })));
  const open = turns.map((turn, at) => ({ ...turn, replySeq: 2, turnId: isLost(at) ? newUuid() : turn.turnId }));

  const until = (at: number) => new Date(UNTIL.getTime() + at * 1_000);
  await Promise.all(open.map((turn, at) => store.extendTurn({ ...turn, until: until(at) })));
  const extended = await rowsOf(turns);
  expect(extended.map(({ turnUntil }) => turnUntil)).toEqual(turns.map((_, at) => (isLost(at) ? UNTIL : until(at))));
  expect(countStatements(extended.filter((_, at) => !isLost(at)))).toBeLessThan(5);

  const said = (at: number) => ({ ...reply(`So far ${at}`), toolCalls: at % 5 === 0 ? [called(`${at}`)] : [] });
  await Promise.all(open.map((turn, at) => store.storeCheckpoint({ ...turn, reply: said(at), now: NOW })));
  for (const [at, key] of keys.entries())
    expect(await transcript(key)).toEqual(isLost(at) ? ["Hi"] : ["Hi", `So far ${at}`]);
  const calls =
    await lists.db`select name from tool_calls where conversation_id = any(${keys.map(({ conversationId }) => conversationId)})`;
  expect(calls).toHaveLength(turns.filter((_, at) => at % 5 === 0 && !isLost(at)).length);
  expect(countStatements((await rowsOf(turns)).filter((_, at) => !isLost(at)))).toBeLessThan(5);

  const silent = open.map((turn, at) => ({ ...turn, language: `x-${at}`, toolCalls: [], now: NOW }));
  await Promise.all(silent.map((turn) => store.releaseTurn(turn)));
  const released = await rowsOf(turns);
  expect(released.map(({ turnId, language }) => [turnId, language])).toEqual(
    turns.map(({ turnId }, at) => (isLost(at) ? [turnId, null] : [null, `x-${at}`])),
  );
  expect(countStatements(released.filter((_, at) => !isLost(at)))).toBeLessThan(5);
});

/** Whether another turn has taken over. */
function isLost(at: number): boolean {
  return at % 7 === 3;
}

interface SessionRow {
  turnId: string | null;
  turnUntil: Date | null;
  language: string | null;
  /** The transaction that wrote the row. */
  xmin: string;
}

/** In the order of the turns. */
async function rowsOf(turns: readonly NewTurn[]): Promise<SessionRow[]> {
  return lists.db<SessionRow[]>`
    select turn_id, turn_until, language, xmin::text from conversations
    where conversation_id = any(${turns.map(({ conversationId }) => conversationId)}::uuid[])
    order by array_position(${turns.map(({ conversationId }) => conversationId)}::uuid[], conversation_id)`;
}

function countStatements(rows: readonly SessionRow[]): number {
  return new Set(rows.map(({ xmin }) => xmin)).size;
}
