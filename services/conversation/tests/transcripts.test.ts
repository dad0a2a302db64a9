import { afterAll, describe, expect, test } from "bun:test";
import { Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { AppendTranscriptRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import { append, complete, lines, read, refusal, said, startCall } from "./calls-kit.ts";
import { chatClient, createAgent, startTestChat } from "./kit.ts";
import { request as listed } from "./lists-kit.ts";

const service = await startTestChat();
const agent = await createAgent(service);
afterAll(() => service.stop());

/** A stream that a test feeds. */
function feed() {
  const waiting: AppendTranscriptRequest[] = [];
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const stream = async function* () {
    for (;;) {
      yield* waiting.splice(0);
      if (isOver) return;
      await wake.promise;
      wake = Promise.withResolvers();
    }
  };
  return {
    stream: stream(),
    send: (...messages: AppendTranscriptRequest[]) => {
      waiting.push(...messages);
      wake.resolve();
    },
    end: () => {
      isOver = true;
      wake.resolve();
    },
  };
}

describe("a transcript", () => {
  test("is readable while its stream is open, and searched, counted and dated like a chat's", async () => {
    const key = await startCall(service.chat, agent);
    service.clock.advance(5_000);
    const { stream, send, end } = feed();
    const answer = service.chat.appendTranscript(stream);
    const spokenAt = new Date("2025-12-31T23:59:59.500Z");
    send(said(key, 1, "Where is my zebra?", spokenAt));
    await eventually(async () => expect(await lines(service.chat, key)).toEqual(["user: Where is my zebra?"]));
    send(said(key, 2, "On\0 its way."));
    await eventually(async () => expect(await lines(service.chat, key)).toHaveLength(2));
    end();
    expect(await answer).toEqual({ lastSequence: 2 });
    const conversation = await read(service.chat, key);
    expect(conversation.transcript?.messages).toEqual([
      {
        role: Role.ROLE_USER,
        content: "Where is my zebra?",
        timestamp: spokenAt,
        latency: undefined,
        startedAt: undefined,
        delivery: undefined,
        toolCalls: [],
      },
      {
        role: Role.ROLE_ASSISTANT,
        content: "On its way.",
        timestamp: service.clock.now(),
        latency: undefined,
        startedAt: undefined,
        delivery: undefined,
        toolCalls: [],
      },
    ]);
    expect(conversation.lastActivityAt).toEqual(service.clock.now());
    const found = await service.chat.listConversations(listed(agent.ownerId, { search: "ZEBRA" }));
    expect(found.conversations.map(({ conversationId }) => conversationId)).toEqual([key.conversationId]);
    const [row] =
      await service.sql`select message_count from conversations where conversation_id = ${key.conversationId}`;
    expect(row?.message_count).toBe(2);
  });

  test("of thousands of messages sent together is stored whole and in order, in a few statements", async () => {
    const key = await startCall(service.chat, agent);
    const messages = Array.from({ length: 3_000 }, (_, at) => said(key, at + 1));
    expect(await append(service.chat, messages)).toBe(3_000);
    expect(await lines(service.chat, key)).toEqual(
      messages.map(({ sequence }) => `${sequence % 2 ? "user" : "assistant"}: Message ${sequence}`),
    );
    const [row] = await service.sql`
      select count(distinct xmin::text)::integer as statements from messages where conversation_id = ${key.conversationId}`;
    expect(row?.statements).toBeLessThan(1_000);
  });

  test("stores no message twice, whatever a repeat of it says", async () => {
    const key = await startCall(service.chat, agent);
    expect(await append(service.chat, [said(key, 1), said(key, 2)])).toBe(2);
    expect(await append(service.chat, [said(key, 1), said(key, 2, "Something else"), said(key, 3), said(key, 3)])).toBe(
      3,
    );
    expect(await append(service.chat, [said(key, 1)])).toBe(3);
    expect(await lines(service.chat, key)).toEqual(["user: Message 1", "assistant: Message 2", "user: Message 3"]);
  });

  test("with a gap is refused with the missing number, and the messages before it are stored", async () => {
    const key = await startCall(service.chat, agent);
    expect(await refusal(append(service.chat, [said(key, 1), said(key, 2), said(key, 5), said(key, 3)]))).toEqual({
      kind: "condition",
      detail: "Message 3 is missing: send 3 before 5",
      lastSequence: "2",
    });
    expect(await lines(service.chat, key)).toHaveLength(2);
    expect(await append(service.chat, [said(key, 3), said(key, 4)])).toBe(4);
  });

  test("written by two concurrent streams, a dead runtime's and its successor's, has each message once", async () => {
    const key = await startCall(service.chat, agent);
    const messages = Array.from({ length: 400 }, (_, at) => said(key, at + 1));
    const answers = await Promise.all([1, 2, 3].map(() => append(service.chat, messages)));
    expect(answers).toEqual([400, 400, 400]);
    expect(await lines(service.chat, key)).toHaveLength(400);
  });

  test("of an ended conversation accepts nothing more and reports its last sequence", async () => {
    const key = await startCall(service.chat, agent);
    const { stream, send } = feed();
    const open = refusal(service.chat.appendTranscript(stream));
    send(said(key, 1));
    await eventually(async () => expect(await lines(service.chat, key)).toHaveLength(1));
    await complete(service.chat, key);
    send(said(key, 2));
    const ended = { kind: "condition", detail: "Conversation has ended: it is COMPLETED", lastSequence: "1" };
    expect(await open).toEqual(ended);
    expect(await refusal(append(service.chat, [said(key, 2)]))).toEqual(ended);
    expect(await lines(service.chat, key)).toHaveLength(1);
  });
});

describe("a stream", () => {
  test.each<[string, (message: AppendTranscriptRequest) => AppendTranscriptRequest, string]>([
    ["without a role", (m) => ({ ...m, message: undefined }), "message.role must be USER, ASSISTANT or PERSON"],
    [
      "with nothing said",
      (m) => ({
        ...m,
        message: {
          role: Role.ROLE_USER,
          content: "\0",
          timestamp: undefined,
          latency: undefined,
          startedAt: undefined,
          delivery: undefined,
          toolCalls: [],
        },
      }),
      "message.content must be 1 to 100000 characters",
    ],
    [
      "with too much said",
      (m) => ({
        ...m,
        message: {
          role: Role.ROLE_USER,
          content: "😀".repeat(100_001),
          timestamp: undefined,
          latency: undefined,
          startedAt: undefined,
          delivery: undefined,
          toolCalls: [],
        },
      }),
      "message.content must be 1 to 100000 characters",
    ],
    [
      "of another time",
      (m) => ({
        ...m,
        message: {
          role: Role.ROLE_USER,
          content: "x",
          timestamp: new Date(-1e13),
          latency: undefined,
          startedAt: undefined,
          delivery: undefined,
          toolCalls: [],
        },
      }),
      "message.timestamp must be between the years 1970 and 9999",
    ],
    ["numbered 0", (m) => ({ ...m, sequence: 0 }), "sequence must be 1 for the first message, 2 for the next, …"],
    [
      "of another conversation",
      (m) => ({ ...m, conversationId: newUuid() }),
      "conversation_id and owner_id must be the same in all messages of a stream",
    ],
  ])("with a message %s is refused there, and the messages before it are stored", async (_, spoil, detail) => {
    const key = await startCall(service.chat, agent);
    expect(await refusal(append(service.chat, [said(key, 1), spoil(said(key, 2)), said(key, 3)]))).toEqual({
      kind: "invalid",
      detail,
      lastSequence: "1",
    });
    expect(await lines(service.chat, key)).toHaveLength(1);
  });

  test("counts message length in characters, not in UTF-16 units", async () => {
    const key = await startCall(service.chat, agent);
    const content = "😀".repeat(100_000);
    expect(await append(service.chat, [said(key, 1, content)])).toBe(1);
    expect(await lines(service.chat, key)).toEqual([`user: ${content}`]);
  });

  test("is refused for another owner's conversation, for a missing one, and when empty", async () => {
    const key = await startCall(service.chat, agent);
    expect(await refusal(append(service.chat, [said({ ...key, ownerId: newOwner() }, 1)]))).toMatchObject({
      kind: "forbidden",
    });
    for (const conversationId of [newUuid(), "x"]) {
      expect(await refusal(append(service.chat, [said({ ...key, conversationId }, 1)]))).toMatchObject({
        kind: "not_found",
      });
    }
    expect(await refusal(append(service.chat, []))).toMatchObject({ kind: "invalid" });
  });

  test("that its runtime aborts keeps its messages, and the next stream continues after them", async () => {
    const key = await startCall(service.chat, agent);
    const { stream, send } = feed();
    const leaving = new AbortController();
    const broken = refusal(
      service.chat.appendTranscript(stream, { origin: { requestId: "r", signal: leaving.signal } }),
    );
    send(said(key, 1), said(key, 2));
    await eventually(async () => expect(await lines(service.chat, key)).toHaveLength(2));
    leaving.abort();
    expect(await broken).toMatchObject({ kind: "cancelled" });
    expect(await append(service.chat, [said(key, 2), said(key, 3)])).toBe(3);
  });

  test("is held back while the database is busy: memory is bounded, and nothing is lost", async () => {
    const key = await startCall(service.chat, agent);
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = service.admin.begin(async (tx) => {
      await tx`select 1 from conversation.conversations where conversation_id = ${key.conversationId} for update`;
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const total = 4_000;
    let sent = 0;
    const stream = async function* () {
      for (; sent < total; sent++) yield said(key, sent + 1, "x".repeat(10_000));
    };
    const answer = service.chat.appendTranscript(stream());
    let before = -1;
    for (let same = 0; same < 3; same = before === sent ? same + 1 : 0) {
      before = sent;
      await service.chat.getConversation(key);
      await Bun.sleep(20);
    }
    expect(sent).toBeLessThan(total / 2);
    release.resolve();
    await holding;
    expect(await answer).toEqual({ lastSequence: total });
  });

  test("open at a stopping process ends with its last sequence and continues elsewhere", async () => {
    const process = await startServiceProcess("conversation", service.env);
    const chat = chatClient(process.address);
    const key = await startCall(chat, agent);
    const { stream, send } = feed();
    const open = refusal(chat.appendTranscript(stream));
    send(said(key, 1));
    await eventually(async () => expect(await lines(service.chat, key)).toHaveLength(1));
    expect(await process.stop()).toBe(0);
    expect(await open).toEqual({
      kind: "unavailable",
      detail: "The service is stopping: continue in a new stream",
      lastSequence: "1",
    });
    chat.close();
    expect(await append(service.chat, [said(key, 2)])).toBe(2);
  });

  test("at a killed process keeps every acknowledged message, and the next continues after them", async () => {
    const process = await startServiceProcess("conversation", service.env);
    const chat = chatClient(process.address);
    const key = await startCall(chat, agent);
    const messages = Array.from({ length: 5_000 }, (_, at) => said(key, at + 1));
    // The stream stays open: a fast process would answer a stream that ends.
    const { stream, send } = feed();
    const open = refusal(chat.appendTranscript(stream));
    send(...messages.slice(0, -1));
    const seen = await eventually(async () => {
      const count = (await lines(service.chat, key)).length;
      expect(count).toBeGreaterThan(0);
      return count;
    });
    await process.stop("SIGKILL");
    expect(await open).toMatchObject({ kind: "unavailable" });
    chat.close();
    const stored = await lines(service.chat, key);
    expect(stored.length).toBeGreaterThanOrEqual(seen);
    expect(await append(service.chat, messages.slice(stored.length))).toBe(5_000);
    expect((await lines(service.chat, key)).length).toBe(5_000);
  });
});
