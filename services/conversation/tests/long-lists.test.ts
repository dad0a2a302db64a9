import { afterAll, expect, test } from "bun:test";
import { newId, newUuid } from "@parley/shared/ids";
import { newOwner } from "@parley/testkit/owners";
import { insertGreetedSession } from "../src/store/conversations.ts";
import { failure } from "./kit.ts";
import { AGENTS, request, startTestLists } from "./lists-kit.ts";

const lists = await startTestLists();
afterAll(() => lists.stop());

interface Said {
  messages: number;
  characters: number;
  metadata?: Record<string, unknown>;
}

async function store(ownerId: string, { messages, characters, metadata = {} }: Said): Promise<string> {
  const { db, clock } = lists;
  const conversationId = newUuid();
  const session = { ownerId, conversationId, id: newId("cnv"), agentId: AGENTS[0], metadata, variables: {} };
  await insertGreetedSession(db, { ...session, agentVersion: 1, draftId: null, greeting: "", now: clock.now() });
  await db`
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${ownerId}, ${conversationId}, seq, 'user', repeat('a', ${characters}), ${clock.now()}
    from generate_series(1, ${messages}::integer) as seq`;
  await db`
    update conversations set message_count = ${messages} where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  return conversationId;
}

const REFUSED = { kind: "condition", detail: expect.stringContaining("ask for a smaller page_size") };

test("a page with more than 4 MiB of transcripts is refused, and smaller pages are complete", async () => {
  const ownerId = newOwner();
  for (let n = 0; n < 10; n++) await store(ownerId, { messages: 20, characters: 25_000 });
  const list = (number: number, size: number) => lists.lists.listConversations(request(ownerId, {}, { number, size }));
  expect(await failure(list(1, 10))).toMatchObject(REFUSED);
  const { conversations, total } = await list(2, 5);
  expect(conversations.map(({ transcript }) => transcript?.messages.length)).toEqual(Array(5).fill(20));
  expect(total).toBe(10);
});

test("a page with more than 4 MiB of metadata is refused, of conversations and of sessions", async () => {
  const ownerId = newOwner();
  const metadata = { note: "b".repeat(1_000_000) };
  for (let n = 0; n < 6; n++) await store(ownerId, { messages: 0, characters: 0, metadata });
  const page = { number: 1, size: 6 };
  expect(await failure(lists.lists.listConversations(request(ownerId, {}, page)))).toMatchObject(REFUSED);
  expect(await failure(lists.lists.listChatSessions({ ownerId, agentId: "", page }))).toMatchObject(REFUSED);
  const { sessions } = await lists.lists.listChatSessions({ ownerId, agentId: "", page: { number: 2, size: 3 } });
  expect(sessions).toHaveLength(3);
});

test("only the newest 4 MiB of a transcript are ever read", async () => {
  const ownerId = newOwner();
  const conversationId = await store(ownerId, { messages: 50, characters: 100_000 });
  const { conversation } = await lists.lists.getConversation({ ownerId, conversationId });
  const { session } = await lists.lists.getChatSession({ ownerId, sessionId: conversationId });
  const fit = Math.floor((4 * 1024 * 1024) / 100_500);
  expect(conversation?.transcript?.messages).toHaveLength(fit);
  expect(session?.messages).toHaveLength(fit);
  expect(session?.messageCount).toBe(50);
  const { conversations } = await lists.lists.listConversations(request(ownerId, {}));
  expect(conversations[0]?.transcript?.messages).toHaveLength(fit);
});

test("only as many short messages are read at once as an event loop can take", async () => {
  const ownerId = newOwner();
  const conversationId = await store(ownerId, { messages: 9_000, characters: 1 });
  const { conversation } = await lists.lists.getConversation({ ownerId, conversationId });
  expect(conversation?.transcript?.messages).toHaveLength(Math.floor((4 * 1024 * 1024) / 501));
});
