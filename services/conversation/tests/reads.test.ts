import { afterAll, describe, expect, test } from "bun:test";
import {
  CallingType,
  ConversationStatus,
  ConversationType,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ListConversationsRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newId, newUuid } from "@parley/shared/ids";
import { newOwner } from "@parley/testkit/owners";
import { WRONG_PAGES } from "@parley/testkit/pages";
import { createAgent, failure, line, say, startTestChat, type TestAgent, turn } from "./kit.ts";
import { insert, stored } from "./lists-kit.ts";

const service = await startTestChat();
afterAll(() => service.stop());

/** A telephone call. */
async function call(ownerId: string): Promise<string> {
  const row = stored({ ownerId, type: "TELEPHONY" });
  await insert(service.sql, [row]);
  return row.conversationId;
}

describe("a conversation", () => {
  test("is returned the same alone and in the list", async () => {
    const agent = await createAgent(service);
    const metadata = { order: { id: 7 }, name: "Ada" };
    const { sessionId } = await service.chat.completeTurn({ turn: turn(agent, "Hi", { metadata }) });
    const key = { ownerId: agent.ownerId, conversationId: sessionId };
    const { conversation } = await service.chat.getConversation(key);
    expect(conversation).toMatchObject({
      ...key,
      agentId: agent.agentId,
      type: ConversationType.CONVERSATION_TYPE_CHAT,
      status: ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS,
      createdBy: agent.ownerId,
      metadata,
      dynamicVariables: { name: "Ada" },
      callingType: CallingType.CALLING_TYPE_UNSPECIFIED,
      lastActivityAt: service.clock.now(),
      createdAt: service.clock.now(),
      analysis: undefined,
      isTestCall: false,
    });
    expect(conversation?.id).toMatch(/^cnv_[0-9a-z]{26}$/);
    expect(conversation?.transcript?.messages.map(line)).toEqual(["user: Hi", "assistant: Hello there."]);
    const listed = await service.chat.listConversations(
      ListConversationsRequest.fromPartial({ ownerId: agent.ownerId }),
    );
    const [, said] = conversation?.transcript?.messages ?? [];
    expect(said?.reply).toMatchObject({ providerName: "CUSTOM_LLM", modelName: "scripted", isPartial: false });
    // Lists leave it out.
    delete said?.reply;
    expect(listed.conversations.map(withoutUndefined)).toEqual(conversation ? [withoutUndefined(conversation)] : []);
  });

  test("of a call without a transcript has none; a chat has one even if it is empty", async () => {
    const agent = await createAgent(service);
    const { sessionId } = await service.chat.startChat({ ...agent, metadata: undefined });
    const read = async (conversationId: string) =>
      (await service.chat.getConversation({ ownerId: agent.ownerId, conversationId })).conversation?.transcript;
    expect(await read(await call(agent.ownerId))).toBeUndefined();
    expect(await read(sessionId)).toEqual({ messages: [] });
  });

  test("of another owner is forbidden; one that does not exist, or cannot, is not found", async () => {
    const conversationId = await call(newOwner());
    const read = (id: string) => failure(service.chat.getConversation({ ownerId: newOwner(), conversationId: id }));
    expect(await read(conversationId)).toMatchObject({
      kind: "forbidden",
      detail: "You do not have access to this conversation",
    });
    for (const id of [newUuid(), "", "x", "\0", `${conversationId} `]) {
      expect(await read(id)).toMatchObject({ kind: "not_found", detail: "Conversation not found" });
    }
  });
});

describe("a chat session", () => {
  const list = ({ ownerId }: TestAgent, agentId = "") =>
    service.chat.listChatSessions({ ownerId, agentId, page: { number: 1, size: 10 } });

  test("of another owner is forbidden, a missing one is not found, and a call is not a chat session", async () => {
    const agent = await createAgent(service);
    const { sessionId } = await say(service, agent, "Hi");
    const read = (ownerId: string, id: string) => failure(service.chat.getChatSession({ ownerId, sessionId: id }));
    expect(await read(newOwner(), sessionId)).toMatchObject({
      kind: "forbidden",
      detail: "You do not have access to this session",
    });
    for (const id of [newUuid(), "x"]) {
      expect(await read(agent.ownerId, id)).toMatchObject({ kind: "not_found", detail: "Session not found" });
    }
    expect(await read(agent.ownerId, await call(agent.ownerId))).toMatchObject({
      kind: "condition",
      detail: "Session is not a chat session",
    });
  });

  test("is listed by agent: another owner's agent is refused, a deleted agent's sessions are still listed", async () => {
    const agent = await createAgent(service);
    const other = await createAgent(service, {}, agent.ownerId);
    const stranger = await createAgent(service);
    const { sessionId } = await say(service, agent, "To one");
    await say(service, other, "To the other");
    const { sessions, total } = await list(agent, agent.agentId);
    expect(total).toBe(1);
    expect(sessions).toMatchObject([
      { sessionId, agentId: agent.agentId, conversationName: "To one", messageCount: 2 },
    ]);
    expect(await failure(list(stranger, agent.agentId))).toMatchObject({ kind: "forbidden" });
    expect((await list(agent, newId("agt"))).total).toBe(0);
    await service.agents.deleteAgent({ ...agent, idempotency: undefined });
    expect((await list(agent, agent.agentId)).total).toBe(1);
    expect((await list(agent)).total).toBe(2);
  });
});

test.each(WRONG_PAGES)(
  "lists of conversations and chat sessions refuse page $page.number of size $page.size",
  async ({ page, field }) => {
    const ownerId = newOwner();
    const detail = expect.stringContaining(`${field} must be `);
    for (const refused of [
      service.chat.listConversations(ListConversationsRequest.fromPartial({ ownerId, page })),
      service.chat.listChatSessions({ ownerId, agentId: "", page }),
    ]) {
      expect(await failure(refused)).toMatchObject({ kind: "invalid", detail });
    }
  },
);

function withoutUndefined(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}
