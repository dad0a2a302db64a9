import { afterAll, afterEach, expect, test } from "bun:test";
import { CreateReplayRequest, ReplayedConversations } from "@parley/proto/parley/agent/v1/test.ts";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { present } from "./kit.ts";
import { analysisOf, manualAgent, startTestStack } from "./tests-kit.ts";
import { createTool, httpTool } from "./tools-kit.ts";

const stack = await startTestStack();
const { agents, script } = stack;
const defaults = { ...script };
afterEach(() => {
  Object.assign(script, { ...defaults, asked: [] });
});
afterAll(() => stack.stop());

async function replayed({ ownerId, agentId }: { ownerId: string; agentId: string }, conversationIds: string[] = []) {
  const { replay } = await agents.createReplay({
    ...CreateReplayRequest.fromPartial({ ownerId, agentId, max: 10 }),
    conversations: ReplayedConversations.fromPartial({ conversationIds }),
  });
  const key = { ownerId, agentId, replayId: present(replay).runId, conversationId: "" };
  return eventually(async () => {
    const run = present((await agents.getReplay(key)).replay);
    if (run.endedAt === undefined) throw new Error(`the replay is ${run.status}`);
    return run;
  });
}

function differencesIn({ results }: Awaited<ReturnType<typeof replayed>>): unknown {
  return JSON.parse(results[0]?.attempts[0]?.outcome ?? "{}").differences;
}

test("a replay says what the user said, has tools answer what they answered, and finds no difference where there is none", async () => {
  const agent = await manualAgent(agents);
  const stored = stack.keep(agent, ["Hello", "look up A-1"]);
  const replay = await replayed(agent);
  expect(replay.status).toBe("PASSED");
  const [result] = replay.results;
  expect(result?.testId).toBe(stored.conversationId);
  const held = stack.held.get(result?.attempts[0]?.conversationId ?? "");
  expect(held?.test).toMatchObject({
    toolMocks: [
      {
        tool: "look_up",
        when: { id: "A-1" },
        outcome: { $case: "result", value: "found" },
        once: true,
        recorded: true,
      },
    ],
    unmockedReal: false,
  });
});

test("a replay of an analyzed conversation is analyzed, and lists what the analysis no longer says", async () => {
  const agent = await manualAgent(agents);
  stack.keep(agent, ["Hello"]).analysis = analysisOf({ topic: "order", mood: "good" });
  script.analysis = { topic: "order", mood: "bad" };
  expect(differencesIn(await replayed(agent))).toMatchObject([
    { what: "analysis", field: "mood", before: "good", after: "bad" },
  ]);
});

test("a replay against a version without analysis does not wait for one, and lists each field as gone", async () => {
  const agent = await manualAgent(agents);
  stack.keep(agent, ["Hello"]).analysis = analysisOf({ mood: "good" });
  expect(differencesIn(await replayed(agent))).toMatchObject([
    { what: "analysis", field: "mood", before: "good", after: null },
  ]);
});

test("a replay lists the tool calls that differ, and a reply that the judge finds different", async () => {
  const agent = await manualAgent(agents);
  const stored = stack.keep(agent, ["look up A-1"]);
  stack.keep(agent, ["Another"]);
  const [, answered] = present(stored.transcript).messages;
  present(answered).toolCalls = [];
  script.answer = () => ({ verdict: "no", reason: "The price differs." });
  const replay = await replayed(agent, [stored.conversationId]);
  expect([replay.status, replay.total]).toEqual(["FAILED", 1]);
  expect(differencesIn(replay)).toEqual([
    { what: "tools", before: [], after: [{ turn: 1, name: "look_up", arguments: { id: "A-1" }, is_error: false }] },
    { what: "reply", reason: "The price differs." },
  ]);
  expect(script.asked[0]?.message).toContain("Before (text from outside)");
});

test("a replay says that documents have changed since, and differs in nothing for that alone", async () => {
  const agent = await manualAgent(agents);
  stack.keep(agent, ["Hello"]);
  const outcomeOf = async () => {
    const { status, results } = await replayed(agent);
    return [status, JSON.parse(results[0]?.attempts[0]?.outcome ?? "{}").documents_changed];
  };
  expect(await outcomeOf()).toEqual(["PASSED", undefined]);
  script.documentsHash = "another";
  expect(await outcomeOf()).toEqual(["PASSED", true]);
});

test("a list of replays counts the conversations that differ and those in error as the replay does, but has no results", async () => {
  const agent = await manualAgent(agents);
  stack.keep(agent, ["Hello"]);
  const [, answered] = present(stack.keep(agent, ["look up A-1"]).transcript).messages;
  present(answered).toolCalls = [];
  const silent = stack.keep(agent, []);
  const replays = [await replayed(agent, [silent.conversationId]), await replayed(agent)];
  const { replays: listed } = await agents.listReplays({
    ownerId: agent.ownerId,
    agentId: agent.agentId,
    page: { number: 1, size: 10 },
  });
  expect(listed).toEqual(replays.toReversed().map((replay) => ({ ...replay, results: [] })));
  expect(listed).toMatchObject([
    { status: "ERROR", ended: 3, total: 3, failed: 1, errors: 1 },
    { status: "ERROR", ended: 1, total: 1, failed: 0, errors: 1 },
  ]);
});

test("a replay without a conversation that matches is refused", async () => {
  const agent = await manualAgent(agents);
  expect(await failure(replayed(agent))).toMatchObject({ kind: "invalid", paths: ["conversations"] });
});

test("a test of a conversation has its user's words, its tools' results, and expects its tool calls", async () => {
  const agent = await manualAgent(agents);
  await createTool(agents, agent.ownerId, httpTool("look_up"));
  const { conversationId } = stack.keep(agent, ["Hello", "look up A-1"]);
  const { ownerId, agentId } = agent;
  const request = { ownerId, agentId, conversationId, name: "From Tuesday", idempotency: undefined };
  const { test: made } = await agents.createTestFromConversation(request);
  expect(made).toMatchObject({
    name: "From Tuesday",
    required: false,
    definition: {
      kind: "scripted",
      messages: ["Hello", "look up A-1"],
      tool_mocks: [{ tool: "look_up", when: { id: "A-1" }, result: "found", recorded: true }],
      assertions: [{ type: "tool_called", turn: 2, tool: "look_up", arguments: { id: "A-1" } }],
    },
  });
  const another = await manualAgent(agents);
  const foreign = { ...request, ownerId: another.ownerId, agentId: another.agentId };
  expect(await failure(agents.createTestFromConversation(foreign))).toMatchObject({ kind: "not_found" });
});

test("a test of a conversation is named by its user's first words, cut to the length of names and numbered if they are taken", async () => {
  const agent = await manualAgent(agents);
  const { ownerId, agentId } = agent;
  const nameFrom = async (words: string[]) => {
    const { conversationId } = stack.keep(agent, words);
    const request = { ownerId, agentId, conversationId, name: undefined, idempotency: undefined };
    return present((await agents.createTestFromConversation(request)).test).name;
  };
  expect(await nameFrom(["\u200b", "Where is\n my order?", "A-1"])).toBe("Where is my order?");
  expect(await nameFrom(["Where is my order?"])).toBe("Where is my order? (2)");
  const long = "🙂 ".repeat(80);
  expect(await nameFrom([long])).toBe(`${"🙂 ".repeat(49)}🙂…`);
  expect(await nameFrom([long])).toBe(`${"🙂 ".repeat(47)}🙂… (2)`);
});

test("a test of a conversation without tools expects the meaning of the last reply, and one whose tool is gone leaves it out", async () => {
  const agent = await manualAgent(agents);
  const { conversationId } = stack.keep(agent, ["Hello", "look up A-1"]);
  const { ownerId, agentId } = agent;
  const request = { ownerId, agentId, conversationId, name: undefined, idempotency: undefined };
  const { test: made } = await agents.createTestFromConversation(request);
  expect(made).toMatchObject({
    name: "Hello",
    definition: {
      messages: ["Hello", "look up A-1"],
      tool_mocks: [],
      assertions: [{ type: "judge", criterion: expect.stringContaining('(text from outside): "LOOK UP A-1"') }],
    },
  });
  const silent = { ...request, conversationId: stack.keep(agent, []).conversationId };
  expect(await failure(agents.createTestFromConversation(silent))).toMatchObject({ kind: "condition" });
});
