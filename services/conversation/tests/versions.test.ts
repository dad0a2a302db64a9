import { afterAll, expect, test } from "bun:test";
import { type AgentPointer, Publishing } from "@parley/proto/parley/agent/v1/agent.ts";
import { AgentServiceService, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import { CallingType, ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  GetCallSetupRequest,
  StartChatRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { newOwner } from "@parley/testkit/owners";
import { createAgent, failure, inline, say, startFurtherChat, startTestChat, type TestAgent, turn } from "./kit.ts";
import { request } from "./lists-kit.ts";

/** The pointers that the second process gets in place of the agent service's own. */
const pointers = new Map<string, AgentPointer>();

/** Two processes, the second of which asks the agent service through a stand-in. */
const service = await startTestChat();
const standIn = await serve(
  AgentServiceService,
  {
    batchGetPointers: async (asked) => {
      const { results } = await service.agents.batchGetPointers(asked);
      return {
        results: results.map((result, at) => ({
          ...result,
          pointer: pointers.get(asked.keys[at]?.agentId ?? "") ?? result.pointer,
        })),
      };
    },
    batchGetAgentRuntimes: service.agents.batchGetAgentRuntimes,
  },
  { address: "127.0.0.1:0", log: silentLogger, drainMs: 0 },
);
const further = await startFurtherChat(service, { PARLEY_AGENT_ADDRESS: standIn.address });
afterAll(async () => {
  await further.stop();
  await standIn.stop();
  await service.stop();
});

// Each agent answers with its prompt.
service.model.script = (call) => call.finish(call.asked.system);

const { AUTO, MANUAL } = { AUTO: Publishing.PUBLISHING_AUTO, MANUAL: Publishing.PUBLISHING_MANUAL };

async function change(agent: TestAgent, prompt: string, publishing: Publishing = AUTO): Promise<void> {
  await service.agents.updateAgent(UpdateAgentRequest.fromPartial({ ...agent, prompt: inline(prompt), publishing }));
}

async function conversationOf({ ownerId }: TestAgent, conversationId: string) {
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId });
  if (!conversation) throw new Error("there is no conversation");
  return conversation;
}

const begin = async (agent: TestAgent, given: object = {}) =>
  (await service.chat.completeTurn({ turn: turn(agent, "Hi", given) })).response;

test("a session keeps its version while another is published, whichever process runs its turns", async () => {
  const agent = await createAgent(service, { prompt: inline("one") });
  const { sessionId } = await say(service, agent);
  await change(agent, "two");
  expect((await say(service, agent, "Hi", sessionId)).response).toBe("one");
  expect((await say(further, agent, "Hi", sessionId)).response).toBe("one");
  const later = await say(further, agent);
  expect(later.response).toBe("two");
  expect(await conversationOf(agent, sessionId)).toMatchObject({ agentVersion: 1, agentPath: [{ agentVersion: 1 }] });
  const filter = { ...request(agent.ownerId, {}), agentId: agent.agentId };
  const listed = await service.chat.listConversations({ ...filter, agentVersion: 2 });
  expect(listed.conversations.map(({ conversationId }) => conversationId)).toEqual([later.sessionId]);
});

test("a WhatsApp thread of days keeps the version with which it began, and one that begins later has the published one", async () => {
  const agent = await createAgent(service, { prompt: inline("one") });
  const type = ConversationType.CONVERSATION_TYPE_WHATSAPP;
  const numbers = { fromMobileNumber: "+14155550123", toMobileNumber: "+14155550100" };
  const begins = async () => {
    const thread = StartConversationRequest.fromPartial({ ...agent, ...numbers, type, conversationId: newUuid() });
    await service.chat.startConversation(thread);
    return thread.conversationId;
  };
  const sessionId = await begins();
  expect(await begin(agent, { sessionId, type })).toBe("one");
  await change(agent, "two");
  for (let day = 0; day < 3; day++) {
    service.clock.advance(20 * 60 * 60_000);
    expect(await begin(agent, { sessionId, type })).toBe("one");
  }
  expect(await begin(agent, { sessionId: await begins(), type })).toBe("two");
});

test("a change that is not published is met by conversations that ask for it only", async () => {
  const agent = await createAgent(service, { prompt: inline("one") });
  await change(agent, "two", MANUAL);
  expect(await begin(agent)).toBe("one");
  expect(await begin(agent, { latestVersion: true })).toBe("two");
  expect(await begin(agent, { agentVersion: 2 })).toBe("two");
  const { sessionId } = await service.chat.startChat(StartChatRequest.fromPartial({ ...agent, agentVersion: 2 }));
  expect((await say(service, agent, "Hi", sessionId)).response).toBe("two");
});

test("a version that there is not, another one than the session's, and an agent of which none is published are refused", async () => {
  const agent = await createAgent(service, { prompt: inline("one") });
  expect(await failure(begin(agent, { agentVersion: 2 }))).toMatchObject({
    kind: "not_found",
    detail: "Agent version not found",
  });
  const { sessionId } = await say(service, agent);
  await change(agent, "two");
  expect(await begin(agent, { sessionId, agentVersion: 1 })).toBe("one");
  expect(await failure(begin(agent, { sessionId, agentVersion: 2 }))).toEqual({
    kind: "condition",
    detail: "Session uses version 1 of its agent: start a new session for another, without session_id",
    sessionId,
  });
  const unpublished = await createAgent(service, { publishing: MANUAL });
  const none = { kind: "conflict", detail: "Agent has no published version" };
  expect(await failure(begin(unpublished))).toMatchObject(none);
  expect(await failure(service.chat.startChat(StartChatRequest.fromPartial(unpublished)))).toMatchObject(none);
});

test("an agent that takes over keeps its version, also when it takes over once more", async () => {
  const ownerId = newOwner();
  const billing = await createAgent(service, { prompt: inline("billing one") }, ownerId);
  const handoffs = [Handoff.fromPartial({ agentId: billing.agentId, when: "always" })];
  const desk = await createAgent(service, { prompt: inline("desk"), handoffs }, ownerId);
  const back = [Handoff.fromPartial({ agentId: desk.agentId, when: "never" })];
  await service.agents.updateAgent(UpdateAgentRequest.fromPartial({ ...billing, handoffs: { values: back } }));
  const answer = service.model.script;
  service.model.script = (call) => {
    const [tool] = call.asked.tools.filter((name) => name.startsWith("hand_over_to_"));
    const isAsked = call.asked.messages.at(-1) === "user: pass me on";
    if (tool && isAsked) call.callTool(tool, "{}");
    else call.finish(call.asked.system);
  };
  const { sessionId } = await say(service, desk, "Hi");
  await say(service, desk, "pass me on", sessionId);
  await change(billing, "billing two");
  expect((await say(further, desk, "Hi", sessionId)).response).toBe("billing one");
  await say(service, desk, "pass me on", sessionId);
  await say(service, desk, "pass me on", sessionId);
  expect((await say(service, desk, "Hi", sessionId)).response).toBe("billing one");
  service.model.script = answer;
  const { agentPath } = await conversationOf(desk, sessionId);
  expect(agentPath.map(({ agentId, agentVersion }) => [agentId, agentVersion])).toEqual([
    [desk.agentId, 1],
    [billing.agentId, 2],
    [desk.agentId, 1],
    [billing.agentId, 2],
  ]);
});

test("a call's setup names the version with which its conversation begins, and is of that one to the end", async () => {
  const agent = await createAgent(service, { prompt: inline("one") });
  const call = { ...agent, conversationId: newUuid(), type: ConversationType.CONVERSATION_TYPE_WEB };
  const setup = () => service.chat.getCallSetup(GetCallSetupRequest.fromPartial(call));
  const { agentVersion } = await setup();
  await change(agent, "two");
  await service.chat.startConversation(StartConversationRequest.fromPartial({ ...call, agentVersion }));
  expect(await setup()).toMatchObject({ prompt: "one", agentVersion: 1 });
  const other = { ...call, conversationId: newUuid() };
  await service.chat.startConversation(StartConversationRequest.fromPartial(other));
  expect((await conversationOf(agent, other.conversationId)).agentVersion).toBe(2);
});

test("a caller gets the same version of a split in each conversation, by number, or by user_id in chats and calls alike", async () => {
  const agent = await createAgent(service, { prompt: inline("one") });
  await change(agent, "two");
  const slots = Array.from({ length: 100 }, (_, at) => (at < 50 ? 1 : 2));
  pointers.set(agent.agentId, {
    publishedVersion: 2,
    latestVersion: 2,
    salt: "s1",
    slots,
    keysRevision: 0,
    pricesHash: "",
  });
  const chats = async (metadata?: object) => {
    const asked = turn(agent, "Hi", metadata && { metadata: metadata as Record<string, unknown> });
    return (await further.chat.completeTurn({ turn: asked })).response;
  };
  const users = await Promise.all(Array.from({ length: 12 }, (_, user) => chats({ user_id: `user ${user}` })));
  expect(await Promise.all(users.map((_, user) => chats({ user_id: `user ${user}` })))).toEqual(users);
  expect(new Set(users)).toEqual(new Set(["one", "two"]));
  const webCallOf = async (userId: string) => {
    const call = { ...agent, conversationId: newUuid(), type: ConversationType.CONVERSATION_TYPE_WEB, userId };
    return (await further.chat.getCallSetup(GetCallSetupRequest.fromPartial(call))).agentVersion;
  };
  const calls = await Promise.all(users.map((_, user) => webCallOf(`user ${user}`)));
  expect(calls).toEqual(users.map((prompt) => (prompt === "one" ? 1 : 2)));
  const callFrom = async (fromMobileNumber: string) => {
    const call = {
      ...{ ...agent, conversationId: newUuid(), fromMobileNumber, toMobileNumber: "+14155550100" },
      ...{ type: ConversationType.CONVERSATION_TYPE_TELEPHONY, callingType: CallingType.CALLING_TYPE_INBOUND },
    };
    const setup = await further.chat.getCallSetup(GetCallSetupRequest.fromPartial(call));
    await further.chat.startConversation(StartConversationRequest.fromPartial(call));
    expect((await conversationOf(agent, call.conversationId)).agentVersion).toBe(setup.agentVersion);
    return setup.agentVersion;
  };
  const numbers = Array.from({ length: 6 }, (_, at) => `+1415555010${at}`);
  expect(await Promise.all(numbers.map(callFrom))).toEqual(await Promise.all(numbers.map(callFrom)));
});
