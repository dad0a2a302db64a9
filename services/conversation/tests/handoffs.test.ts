import { afterAll, beforeEach, expect, test } from "bun:test";
import { type CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Handoff, HandoffContext } from "@parley/proto/parley/agent/v1/tool.ts";
import { Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  AppendTranscriptRequest,
  GetCallSetupRequest,
  ListConversationsRequest,
  RunCallToolRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newId, newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { ModelCall, Script } from "@parley/testkit/scripted-model";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import { eventOf, payloadOf } from "./events-kit.ts";
import {
  createAgent,
  failure,
  inline,
  leavable,
  listen,
  say,
  startTestChat,
  type TestAgent,
  transcript,
  turn,
} from "./kit.ts";

const service = await startTestChat();
afterAll(() => service.stop());

let ownerId: string;
beforeEach(() => {
  ownerId = newOwner();
});

/** An agent that hands over to the others. */
async function agentWith(
  prompt: string,
  given: Partial<CreateAgentRequest> = {},
  ...handoffs: (Partial<Handoff> & { agentId: string })[]
): Promise<TestAgent> {
  const when = "the user asks about money";
  const to = handoffs.map((handoff) => Handoff.fromPartial({ when, ...handoff }));
  return createAgent(service, { prompt: inline(prompt), handoffs: to, ...given }, ownerId);
}

/** The model gives these answers, then plain ones. @returns what it was asked since */
function script(...answers: Script[]): () => ModelCall["asked"][] {
  const from = service.model.calls.length;
  const waiting = [...answers];
  service.model.script = (call) => (waiting.shift() ?? ((rest) => rest.finish("I do money.")))(call);
  return () => service.model.calls.slice(from).map(({ asked }) => asked);
}

const toolOf = ({ agentId }: TestAgent) => `hand_over_to_${agentId}`;
const handsTo =
  (agent: TestAgent, text = ""): Script =>
  (call) =>
    call.callTool(toolOf(agent), "{}", text);

async function pathOf({ agentId }: TestAgent, conversationId: string): Promise<[string, number][]> {
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId });
  expect(conversation?.agentId).toBe(agentId);
  return (conversation?.agentPath ?? []).map((on) => [on.agentId, on.fromSeq]);
}

async function resultsOf(conversationId: string): Promise<string[]> {
  const rows = await service.sql<{ result: string }[]>`
    select result from tool_calls where conversation_id = ${conversationId} order by tool_call_id`;
  return rows.map(({ result }) => result);
}

/** Two earlier turns of the first agent, which hands over in the third. */
async function handedOver(given: Partial<Handoff>) {
  const billing = await agentWith("You are billing for {{name}}.", { firstMessagePrompt: "Billing here, {{name}}." });
  const desk = await agentWith("You are the desk.", {}, { ...billing, ...given });
  script((call) => call.finish("Hello."));
  const metadata = { dynamic_variables: { name: "Ada" } };
  const { sessionId } = await service.chat.completeTurn({ turn: turn(desk, "Hi", { metadata }) });
  const asked = script(handsTo(billing, "Let me see."));
  const { response } = await say(service, desk, "What do I owe?", sessionId);
  return { billing, desk, sessionId, response, asked };
}

test("an agent that takes over answers in the same turn, with its prompt and the conversation's variables", async () => {
  const { billing, desk, sessionId, response, asked } = await handedOver({});
  expect(response).toBe("Let me see. I do money.");
  const [first, second] = asked();
  expect(first?.tools).toEqual([toolOf(billing)]);
  expect(second).toMatchObject({ system: "You are billing for Ada.", tools: [] });
  expect(second?.messages.slice(0, -1)).toEqual([
    "user: Hi",
    "assistant: Hello.",
    "user: What do I owe?",
    "assistant: Let me see.",
    `call: ${toolOf(billing)} {}`,
  ]);
  expect(second?.messages.at(-1)).toStartWith("result: You have taken over the conversation");
  expect(await pathOf(desk, sessionId)).toEqual([
    [desk.agentId, 1],
    [billing.agentId, 4],
  ]);
});

test("later turns run on the agent that took over, while clients go on naming the first one", async () => {
  const { desk, sessionId } = await handedOver({});
  const asked = script();
  await say(service, desk, "And now?", sessionId);
  expect(asked()[0]).toMatchObject({ system: "You are billing for Ada.", tools: [] });
  const { conversations } = await service.chat.listConversations(
    ListConversationsRequest.fromPartial({ ownerId, agentId: desk.agentId }),
  );
  expect(conversations).toMatchObject([{ conversationId: sessionId, agentId: desk.agentId }]);
});

test("with the context none, an agent that takes over learns of nothing before the sentence that triggered it", async () => {
  const { desk, sessionId, asked } = await handedOver({ context: HandoffContext.HANDOFF_CONTEXT_NONE });
  expect(asked()[1]?.messages[0]).toBe("user: What do I owe?");
  const later = script();
  await say(service, desk, "And now?", sessionId);
  expect(later()[0]?.messages[0]).toBe("user: What do I owe?");
  expect(later()[0]?.messages.at(-1)).toBe("user: And now?");
});

test("with the context last_messages, it learns of ten messages, the triggering sentence among them", async () => {
  const billing = await agentWith("You are billing.");
  const context = HandoffContext.HANDOFF_CONTEXT_LAST_MESSAGES;
  const desk = await agentWith("You are the desk.", {}, { ...billing, context });
  script();
  let sessionId: string | undefined;
  for (let at = 1; at <= 6; at++) ({ sessionId } = await say(service, desk, `Question ${at}`, sessionId));
  const asked = script(handsTo(billing));
  await say(service, desk, "What do I owe?", sessionId);
  const told = asked()[1]?.messages.filter((message) => /^(user|assistant): /.test(message)) ?? [];
  // A model's conversation begins with its user.
  expect(told.shift()).toBe("user: (The conversation begins.)");
  expect(told).toHaveLength(10);
  expect([told[0], told.at(-1)]).toEqual(["assistant: I do money.", "user: What do I owe?"]);
});

test("the message is said before the handoff, the new agent's greeting before it answers, and both are stored", async () => {
  const { desk, sessionId, response, asked } = await handedOver({ message: "I pass you on.", greet: true });
  const said = "Let me see. I pass you on. Billing here, Ada. I do money.";
  expect(response).toBe(said);
  const [call] = await service.sql`select place from tool_calls where conversation_id = ${sessionId}`;
  expect(said.slice(0, call?.place)).toBe("Let me see. I pass you on.");
  expect(asked()[1]?.messages.at(-1)).toContain("You have greeted the user with these words: Billing here, Ada.");
  expect(await transcript(service, desk, sessionId)).toEqual([
    "user: Hi",
    "assistant: Hello.",
    "user: What do I owe?",
    `assistant: ${said}`,
  ]);
});

test("an agent that takes over and says nothing fails the turn, whatever the one before has said", async () => {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, { ...billing, message: "I pass you on." });
  script(handsTo(billing), ...Array.from({ length: 9 }, (): Script => (call) => call.finish("")));
  expect(await failure(say(service, desk, "Money?"))).toMatchObject({ kind: "upstream_failed" });
});

test("a conversation is handed over once for the calls of one answer", async () => {
  const billing = await agentWith("You are billing.");
  const sales = await agentWith("You are sales.");
  const desk = await agentWith("You are the desk.", {}, billing, sales);
  const both = [billing, sales].map((agent) => ({ name: toolOf(agent), input: "{}" }));
  const asked = script((call) => call.callTools(both));
  const { sessionId } = await say(service, desk, "Money?");
  expect(asked()[1]?.system).toBe("You are billing.");
  expect((await resultsOf(sessionId))[1]).toBe("The conversation is handed over to another agent already.");
  expect(await pathOf(desk, sessionId)).toHaveLength(2);
});

const setHandoffs = (agent: TestAgent, ...values: Handoff[]) =>
  service.agents.updateAgent(UpdateAgentRequest.fromPartial({ ...agent, handoffs: { values } }));

/** Two agents that hand over to each other. */
async function twoAgents(): Promise<[TestAgent, TestAgent]> {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, billing);
  await setHandoffs(billing, Handoff.fromPartial({ agentId: desk.agentId, when: "Else" }));
  return [desk, billing];
}

test("a conversation is handed over three times in a turn, and ten times in all; then the model is told", async () => {
  const [desk, billing] = await twoAgents();
  const four = [handsTo(billing), handsTo(desk), handsTo(billing), handsTo(desk)];
  script(...four);
  const { sessionId } = await say(service, desk, "Money?");
  expect((await resultsOf(sessionId)).at(-1)).toStartWith(
    "The conversation was handed over 3 times since the user spoke.",
  );
  const turns = [
    [desk, billing, desk],
    [billing, desk, billing],
    [desk, billing],
  ];
  for (const agents of turns) {
    script(...agents.map((agent) => handsTo(agent)));
    await say(service, desk, "Money?", sessionId);
  }
  expect((await resultsOf(sessionId)).at(-1)).toStartWith(
    "The conversation was handed over 10 times, which is the most.",
  );
  const path = await pathOf(desk, sessionId);
  expect(path).toHaveLength(11);
  expect(path.at(-1)).toEqual([desk.agentId, 8]);
});

test("a handoff to an agent that was deleted is told to the model, and the conversation goes on", async () => {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, billing);
  const asked = script(async (call) => {
    await setHandoffs(desk);
    await service.agents.deleteAgent({ ...billing, idempotency: undefined });
    call.callTool(toolOf(billing), "{}");
  });
  const { sessionId, response } = await say(service, desk, "Money?");
  expect(response).toBe("I do money.");
  expect(asked()[1]).toMatchObject({ system: "You are the desk." });
  expect(asked()[1]?.messages.at(-1)).toStartWith("result: This agent does not exist anymore.");
  expect(await pathOf(desk, sessionId)).toEqual([[desk.agentId, 1]]);
});

test("the first agent takes over again if the one that answers is deleted between two turns", async () => {
  const { billing, desk, sessionId } = await handedOver({});
  await setHandoffs(desk);
  await service.agents.deleteAgent({ ...billing, idempotency: undefined });
  const asked = script();
  await say(service, desk, "And now?", sessionId);
  expect(asked()[0]?.system).toBe("You are the desk.");
  expect(await pathOf(desk, sessionId)).toEqual([
    [desk.agentId, 1],
    [billing.agentId, 4],
    [desk.agentId, 6],
  ]);
});

test("an agent without a model that can be called does not take over, and the model is told why", async () => {
  const billing = await agentWith("You are billing.", { llm: undefined });
  const desk = await agentWith("You are the desk.", {}, billing);
  script(handsTo(billing));
  const { sessionId } = await say(service, desk, "Money?");
  expect(await resultsOf(sessionId)).toEqual([expect.stringContaining("Agent has no LLM configuration")]);
});

test("a process that dies between a handoff and the reply leaves the agent that took over", async () => {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, billing);
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, 1) };
  const hangs = Promise.withResolvers<void>();
  script(handsTo(billing), () => hangs.resolve());
  const { origin, leave } = leavable();
  const events = listen(service.chat, turn(desk, "What do I owe?", { idempotency }), { origin });
  const first = await events.next();
  const sessionId = (first.value && "sessionId" in first.value && first.value.sessionId) || "";
  (async () => {
    for await (const _ of events);
  })().catch(() => {});
  await hangs.promise;
  // The process is as good as dead: its turn has lost its session.
  service.clock.advance(60_000);
  const asked = script();
  await eventually(() => service.chat.completeTurn({ turn: turn(desk, "What do I owe?", { idempotency }) }));
  leave();
  expect(asked()[0]).toMatchObject({ system: "You are billing." });
  expect(asked()[0]?.messages[0]).toBe("user: What do I owe?");
  expect(await pathOf(desk, sessionId)).toEqual([
    [desk.agentId, 1],
    [billing.agentId, 2],
  ]);
});

test("a handoff whose process died before it was stored is made with the user's next message", async () => {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, { ...billing, message: "I pass you on." });
  script();
  const { sessionId } = await say(service, desk, "What do I owe?");
  await service.sql`
    insert into tool_calls (owner_id, conversation_id, tool_call_id, seq, round, place, kind, name, arguments, state)
    values (${ownerId}, ${sessionId}, ${newId("tcl")}, 3, 1, 0, 'handoff', ${toolOf(billing)}, '{}', 'RUNNING')`;
  await service.sql`update conversations set has_tool_calls = true where conversation_id = ${sessionId}`;
  const asked = script();
  expect((await say(service, desk, "Hello?", sessionId)).response).toBe("I pass you on. I do money.");
  expect(asked().map(({ system }) => system)).toEqual(["You are billing."]);
  expect((await pathOf(desk, sessionId)).at(-1)).toEqual([billing.agentId, 4]);
});

test("a handoff leaves another owner's conversation with the same id to its agent", async () => {
  const { billing, desk, sessionId } = await handedOver({});
  const stranger = await createAgent(service, { prompt: inline("You are a stranger.") });
  const asked = script();
  await service.chat.completeTurn({ turn: turn(stranger, "Hi", { sessionId, mayBegin: true }) });
  await say(service, stranger, "Money?", sessionId);
  await say(service, desk, "And now?", sessionId);
  expect(asked().map(({ system }) => system)).toEqual([
    "You are a stranger.",
    "You are a stranger.",
    "You are billing for Ada.",
  ]);
  expect((await pathOf(desk, sessionId)).at(-1)).toEqual([billing.agentId, 4]);
});

test("the event of a handed-over conversation names its first and last agent, and its figures are the first one's", async () => {
  const billing = await agentWith("You are billing.", { tools: { end_call: true } });
  const desk = await agentWith("You are the desk.", {}, billing);
  script(handsTo(billing), (call) => call.callTool("end_call", "{}", "Goodbye."));
  const { sessionId } = await say(service, desk, "Money?");
  const { agentId: agent_id } = desk;
  expect(payloadOf(await eventOf(service, sessionId))).toMatchObject({ agent_id, last_agent_id: billing.agentId });
  const day = { from: new Date("2026-01-01"), to: new Date("2026-02-01") };
  const { agents } = await service.chat.getStatistics({ ownerId, agentId: "", ...day });
  expect(agents).toMatchObject([{ agentId: agent_id, figures: { begun: 1, replies: 1, completed: 1 } }]);
});

test("a runtime that asks the model itself is not offered handoffs, and a model that hands over is told so", async () => {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, billing);
  const call = await startWebCall(service.chat, desk);
  const { toolDefinitions } = await service.chat.getCallSetup(GetCallSetupRequest.fromPartial(desk));
  expect(toolDefinitions).toEqual([]);
  const name = toolOf(billing);
  const run = await service.chat.runCallTool(RunCallToolRequest.fromPartial({ ...call, name }));
  expect(run).toMatchObject({ isError: true, result: expect.stringContaining("not available in this kind of call") });
  expect(await pathOf(desk, call.conversationId)).toEqual([[desk.agentId, 1]]);
});

const STS = { providerName: "OPENAI", modelName: "gpt-realtime", voiceId: "marin", params: undefined };

/** A call whose runtime asks a speech-to-speech model, in which the user has said this much. */
async function stsCall(desk: TestAgent, messages: number) {
  const call = await startWebCall(service.chat, desk);
  const requests = async function* () {
    for (let sequence = 1; sequence <= messages; sequence++)
      yield AppendTranscriptRequest.fromPartial({
        ...{ ...call, sequence },
        message: { role: sequence % 2 === 1 ? Role.ROLE_USER : Role.ROLE_ASSISTANT, content: `Words ${sequence}.` },
      });
  };
  await service.chat.appendTranscript(requests());
  const handOver = (to: TestAgent, sequence = messages + 1) =>
    service.chat.runCallTool(RunCallToolRequest.fromPartial({ ...call, name: toolOf(to), sequence }));
  return { key: { ownerId: call.ownerId, conversationId: call.conversationId }, handOver };
}

test("a speech-to-speech agent hands a call over to another one, whose setup has the conversation's variables", async () => {
  const billing = await agentWith("You are billing for {{name}}.", { sts: STS, firstMessagePrompt: "Billing here." });
  const handoff = { ...billing, message: "I pass you on.", greet: true, context: HandoffContext.HANDOFF_CONTEXT_NONE };
  const desk = await agentWith("You are the desk.", { sts: STS }, handoff);
  const setup = await service.chat.getCallSetup(GetCallSetupRequest.fromPartial(desk));
  expect(setup.toolDefinitions).toMatchObject([{ name: toolOf(billing), handsOverTo: billing.agentId }]);
  const call = await stsCall(desk, 3);
  await service.sql`update conversations set variables = '{"name": "Ada"}' where conversation_id = ${call.key.conversationId}`;
  const { conversationId } = call.key;
  const taken = await service.chat.getCallSetup(GetCallSetupRequest.fromPartial({ ...billing, conversationId }));
  expect(taken).toMatchObject({ prompt: "You are billing for Ada.", greeting: "Billing here." });
  const { agentId } = billing;
  expect(await call.handOver(billing)).toMatchObject({
    isError: false,
    action: {
      action: {
        $case: "handOver",
        value: { agentId, voiceAgentId: agentId, contextFrom: 3, message: "I pass you on.", greets: true },
      },
    },
  });
  expect(await pathOf(desk, conversationId)).toEqual([
    [desk.agentId, 1],
    [agentId, 4],
  ]);
});

test("the tools of a speech-to-speech call are those of the agent that has taken over", async () => {
  const desk = await agentWith("You are the desk.", { sts: STS });
  const billing = await agentWith("You are billing.", { sts: STS, tools: { end_call: true } });
  await service.agents.updateAgent(
    UpdateAgentRequest.fromPartial({ ...desk, handoffs: { values: [{ agentId: billing.agentId, when: "they ask" }] } }),
  );
  const call = await stsCall(desk, 1);
  const end = () => service.chat.runCallTool(RunCallToolRequest.fromPartial({ ...call.key, name: "end_call" }));
  expect(await end()).toMatchObject({ isError: true });
  await call.handOver(billing);
  expect(await end()).toMatchObject({ isError: false, action: { action: { $case: "endCall" } } });
});

test("no call of a speech-to-speech model goes to an agent without one, nor beyond ten handoffs", async () => {
  const plain = await agentWith("You are billing.");
  const other = await agentWith("You are the other desk.", { sts: STS });
  const desk = await agentWith("You are the desk.", { sts: STS }, plain, other);
  await service.agents.updateAgent(
    UpdateAgentRequest.fromPartial({ ...other, handoffs: { values: [{ agentId: desk.agentId, when: "they ask" }] } }),
  );
  const call = await stsCall(desk, 21);
  expect(await call.handOver(plain)).toMatchObject({
    isError: true,
    result: expect.stringContaining("no model that hears and speaks"),
  });
  for (let time = 0; time < 10; time++) {
    const { isError } = await call.handOver(time % 2 === 0 ? other : desk, 2 + 2 * time);
    expect(isError).toBeFalse();
  }
  expect(await call.handOver(other)).toMatchObject({ isError: true, result: expect.stringContaining("10 times") });
});

test("in a call, the runtime learns of a handoff between the words of the two agents, and again with each later turn", async () => {
  const billing = await agentWith("You are billing.", { firstMessagePrompt: "Billing here." });
  const desk = await agentWith("You are the desk.", {}, { ...billing, message: "I pass you on.", greet: true });
  const call = await startWebCall(service.chat, desk);
  script(handsTo(billing));
  const spoken = speakTurn(service.chat, call, 1, "What do I owe?");
  const handOver = { $case: "handOver", value: { agentId: billing.agentId, voiceAgentId: billing.agentId } };
  expect([await spoken.next(), await spoken.next()]).toMatchObject([
    { $case: "toolStarted", value: { name: toolOf(billing) } },
    { $case: "toolEnded" },
  ]);
  expect(await spoken.reply()).toMatchObject({ text: "I pass you on. ", event: { value: { action: handOver } } });
  const { text, event } = await spoken.reply();
  expect({ text, event: event?.$case }).toEqual({ text: "Billing here. I do money.", event: "complete" });
  spoken.heard("I pass you on. Billing here. I do money.");
  expect(await spoken.stored()).toBe(2);
  const later = speakTurn(service.chat, call, 3, "And now?");
  expect(await later.next()).toMatchObject({ value: { action: handOver } });
  expect((await later.reply()).text).toBe("I do money.");
  later.heard("I do money.");
  await later.stored();
});

test("with keep_voice, an agent that takes over a call speaks with the voice that was heard so far", async () => {
  const billing = await agentWith("You are billing.");
  const desk = await agentWith("You are the desk.", {}, { ...billing, keepVoice: true });
  const call = await startWebCall(service.chat, desk);
  script(handsTo(billing));
  const spoken = speakTurn(service.chat, call, 1, "What do I owe?");
  const value = { agentId: billing.agentId, voiceAgentId: desk.agentId };
  const events = [await spoken.next(), await spoken.next(), await spoken.next()];
  expect(events.at(-1)).toMatchObject({ value: { action: { $case: "handOver", value } } });
  spoken.heard("I do money.");
  await spoken.stored();
});
