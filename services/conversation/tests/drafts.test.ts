import { afterAll, expect, test } from "bun:test";
import { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationType, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  CompleteConversationRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { serviceErrorOf } from "@parley/testkit/failures";
import { createAgent, inline, say, startTestChat, type TestAgent, turn } from "./kit.ts";

const service = await startTestChat();
afterAll(() => service.stop());

async function draftOf(agent: TestAgent, prompt: string): Promise<string> {
  const change = { ...UpdateAgentRequest.fromPartial(agent), prompt: inline(prompt) };
  return (await service.agents.createDraft({ change })).draftId;
}

const tryOut = async (agent: TestAgent, draftId: string | undefined, sessionId?: string) =>
  service.chat.completeTurn({ turn: turn(agent, "Hi", { draftId, sessionId }) });

const systemPrompts = () => service.model.calls.map(({ asked }) => asked.system);

test("a chat on a draft asks the model with the draft, which each message may change", async () => {
  const agent = await createAgent(service);
  const { sessionId } = await tryOut(agent, await draftOf(agent, "Be long."));
  await tryOut(agent, await draftOf(agent, "Be loud."), sessionId);
  await say(service, agent);
  expect(systemPrompts().slice(-3)).toEqual(["Be long.", "Be loud.", "Be brief."]);
  const { conversation } = await service.chat.getConversation({ ownerId: agent.ownerId, conversationId: sessionId });
  expect(conversation?.isTestCall).toBe(true);
});

test("a session tries a draft in each of its messages or in none", async () => {
  const agent = await createAgent(service);
  const draftId = await draftOf(agent, "Be long.");
  const { sessionId: trying } = await tryOut(agent, draftId);
  expect(await serviceErrorOf(tryOut(agent, undefined, trying))).toMatchObject({
    kind: "condition",
    detail: "Session uses a draft: send draft with each message",
  });
  const { sessionId: real } = await say(service, agent);
  expect(await serviceErrorOf(tryOut(agent, draftId, real))).toMatchObject({
    kind: "condition",
    detail: "Session does not use a draft: start a new session, without session_id",
  });
});

test("conversations on drafts send no event and are not counted as used", async () => {
  const agent = await createAgent(service);
  const { ownerId } = agent;
  const draftId = await draftOf(agent, "Be long.");
  await tryOut(agent, draftId);
  const conversationId = newUuid();
  const type = ConversationType.CONVERSATION_TYPE_WEB;
  const start = { ...agent, conversationId, type, draftId, isTestCall: true };
  await service.chat.startConversation(StartConversationRequest.fromPartial(start));
  const end = { ownerId, conversationId, outcome: Outcome.OUTCOME_SUCCESS };
  await service.chat.completeConversation(CompleteConversationRequest.fromPartial(end));
  expect(await service.sql`select from owner_events where owner_id = ${ownerId}`).toBeEmpty();
  const [from, to] = [new Date("2026-01-01"), new Date("2026-01-02")];
  const { days } = await service.chat.countUsage({ ownerId, from, to });
  expect(days).toMatchObject([{ conversations: 0, replies: 0, inputTokens: 0, outputTokens: 0 }]);
});

test("a chat on a draft can begin with the draft's greeting, which the model then knows of", async () => {
  const agent = await createAgent(service, { firstMessagePrompt: "Hello." });
  const change = UpdateAgentRequest.fromPartial({ ...agent, firstMessagePrompt: "Hello {{name}}, here is Zoe." });
  const { draftId } = await service.agents.createDraft({ change });
  const metadata = { dynamic_variables: { name: "Ada" } };
  const { sessionId, firstMessage } = await service.chat.startChat({ ...agent, metadata, draftId });
  expect(firstMessage).toBe("Hello Ada, here is Zoe.");
  await tryOut(agent, draftId, sessionId);
  const { conversation } = await service.chat.getConversation({ ownerId: agent.ownerId, conversationId: sessionId });
  expect(conversation).toMatchObject({
    isTestCall: true,
    transcript: { messages: [{ content: "Hello Ada, here is Zoe." }, { content: "Hi" }, {}] },
  });
  expect(JSON.stringify(service.model.calls.at(-1))).toContain("here is Zoe");
});
