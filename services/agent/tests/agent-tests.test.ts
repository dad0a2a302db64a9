import { afterAll, afterEach, expect, test } from "bun:test";
import { Publishing } from "@parley/proto/parley/agent/v1/agent.ts";
import { PublishAgentVersionRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { RunTestsRequest, type TestRun, UpdateTestRequest } from "@parley/proto/parley/agent/v1/test.ts";
import { EndedBy } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ServiceError } from "@parley/shared/errors";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { makeDue, tellWorkers } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { readAgentConfig } from "../src/config.ts";
import { startAgent } from "../src/service.ts";
import { OLD_RUNS } from "../src/tests/store/runs.ts";
import { change, create, creation, customLlm, deletion, present } from "./kit.ts";
import { ended, manualAgent, newTest, REPLY_COST, runToEnd, startTestStack } from "./tests-kit.ts";
import { createTool, httpTool } from "./tools-kit.ts";

const stack = await startTestStack();
const { agents, script, sql } = stack;
const defaults = { ...script };
afterEach(() => {
  Object.assign(script, { ...defaults, asked: [], calls: [] });
});
afterAll(() => stack.stop());

const greets = { messages: ["Hello"], assertions: [{ type: "contains", value: "hello" }] };
const key = { idempotency: undefined };
const outcomesOf = ({ results }: TestRun) =>
  results.flatMap(({ attempts }) => attempts.map(({ outcome }) => JSON.parse(outcome ?? "null")));

test("a run holds each test's conversation with the version, and stores what was said and why each assertion held or not", async () => {
  const agent = await manualAgent(agents);
  await createTool(agents, agent.ownerId, httpTool("look_up"));
  await agents.createTest(newTest(agent, "Greets", greets));
  await agents.createTest(
    newTest(agent, "Looks up", {
      messages: ["Hi", "look up A-1"],
      variables: { customer: "C-1" },
      tool_mocks: [{ tool: "look_up", when: { id: "A-1" }, delay_ms: 5, result: { status: "shipped" } }],
      assertions: [
        { type: "tool_called", turn: 2, tool: "look_up", arguments: { id: "A-2" } },
        { type: "judge", criterion: "It is polite" },
      ],
    }),
  );
  script.answer = () => ({ verdict: "unclear", reason: "It may be." });
  const run = await runToEnd(agents, agent);
  expect(run).toMatchObject({
    status: "FAILED",
    agentVersion: 1,
    ended: 2,
    total: 2,
    costUsdMicros: 3 * REPLY_COST + 100,
  });
  expect(run.results.map(({ name, passed, passes }) => [name, passed, passes])).toEqual([
    ["Greets", true, 1],
    ["Looks up", false, 0],
  ]);
  const [greeted, lookedUp] = outcomesOf(run);
  expect(greeted.assertions).toEqual([{ type: "contains", passed: true, reason: '"HELLO" contains "hello"' }]);
  expect(lookedUp.assertions).toEqual([
    {
      type: "tool_called",
      turn: 2,
      passed: false,
      reason: 'look_up was called with {"id":"A-1"}, not with {"id":"A-2"}',
    },
    { type: "judge", passed: false, reason: "Unclear: It may be." },
  ]);
  expect(lookedUp.transcript).toMatchObject({
    turns: [
      { turn: 1, user: "Hi", agent: "HI" },
      { turn: 2, user: "look up A-1", tool_calls: [{ name: "look_up", arguments: { id: "A-1" } }] },
    ],
    ended_by: "user",
  });
  const [, attempt] = run.results.map(({ attempts }) => attempts[0]);
  expect(stack.held.get(attempt?.conversationId ?? "")).toMatchObject({
    agentVersion: 1,
    test: {
      runId: run.runId,
      toolMocks: [
        {
          tool: "look_up",
          when: { id: "A-1" },
          delayMs: 5,
          outcome: { $case: "result", value: '{"status":"shipped"}' },
          once: false,
        },
      ],
      unmockedReal: false,
      dynamicVariables: { customer: "C-1" },
    },
  });
});

test("a run tests the newest version unless it names another, or the one that customers get", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Greets", greets));
  const published = { agentVersion: 0 };
  expect(await failure(runToEnd(agents, agent, published))).toMatchObject({ detail: "Agent has no published version" });
  const { ownerId, agentId } = agent;
  await agents.publishAgentVersion(PublishAgentVersionRequest.fromPartial({ ownerId, agentId, agentVersion: 1 }));
  await change(agents, agent, { agentName: "Changed" });
  expect(await runToEnd(agents, agent, published)).toMatchObject({ status: "PASSED", agentVersion: 1 });
  expect(await runToEnd(agents, agent)).toMatchObject({ status: "PASSED", agentVersion: 2 });
});

test("a simulated user is asked for its words, as one who reads the agent's words as data, until it has what it wants", async () => {
  const agent = await manualAgent(agents);
  const persona = { kind: "simulated", persona: "In a hurry", goal: "Learn the status", first_message: "Where is it?" };
  await agents.createTest(
    newTest(agent, "Simulated", { ...persona, assertions: [{ type: "ended_by", value: "user" }] }),
  );
  const answers = [
    { message: "And when?", state: "continue" },
    { message: "", state: "goal_met" },
  ];
  script.answer = () => answers.shift() ?? {};
  const run = await runToEnd(agents, agent);
  expect(run.status).toBe("PASSED");
  expect(outcomesOf(run)[0].transcript.turns.map(({ user }: { user: string }) => user)).toEqual([
    "Where is it?",
    "And when?",
  ]);
  expect(script.asked[0]).toMatchObject({ agentVersion: 1, llm: undefined });
  expect(script.asked[0]?.message).toContain('{"by":"agent","text":"WHERE IS IT?"}');
});

test("a simulated user whose turns are used up ends the conversation for the system", async () => {
  const agent = await manualAgent(agents);
  const persona = { kind: "simulated", persona: "Chatty", goal: "Talk", turns_max: 2 };
  await agents.createTest(
    newTest(agent, "Chatty", { ...persona, assertions: [{ type: "ended_by", value: "system" }] }),
  );
  script.answer = () => ({ message: "Go on", state: "continue" });
  const run = await runToEnd(agents, agent);
  expect([run.status, outcomesOf(run)[0].transcript.turns.length]).toEqual(["PASSED", 2]);
});

test("a user whom the agent has left says no more", async () => {
  const agent = await manualAgent(agents);
  const assertions = [{ type: "ended_by", value: "agent" }];
  await agents.createTest(newTest(agent, "Left", { messages: ["Hello", "Goodbye", "One more"], assertions }));
  const run = await runToEnd(agents, agent);
  expect([run.status, outcomesOf(run)[0].transcript.turns.length]).toEqual(["PASSED", 2]);
});

test("a test of the channel voice holds a call with the lines as written, and asserts on what was heard", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(
    newTest(agent, "Call", {
      channel: "voice",
      messages: ["Hello", { text: "Well", noise: "cafe", interrupt_at_ms: 200, dtmf: "1#" }, { dtmf: "2" }],
      assertions: [
        { type: "latency_ms", max: 700 },
        { type: "equals", turn: 2, value: "WELL" },
      ],
    }),
  );
  expect((await runToEnd(agents, agent)).status).toBe("PASSED");
  expect(script.calls.slice(1).map(({ step }) => step?.value)).toEqual([
    { text: "Hello", noise: undefined, interruptAtMs: undefined, dtmf: undefined },
    { text: "Well", noise: "cafe", interruptAtMs: 200, dtmf: "1#" },
    { text: "", noise: undefined, interruptAtMs: undefined, dtmf: "2" },
    true,
  ]);
});

test("at most four test conversations of an owner are held at once by all replicas, and a test passes when enough attempts do", async () => {
  const agent = await manualAgent(agents);
  const another = await startAgent(readAgentConfig(stack.env()), silentLogger, stack.clock);
  await agents.createTest(newTest(agent, "Repeated", { ...greets, repeat: 9, pass_at_least: 8 }));
  let [running, most, begun] = [0, 0, 0];
  const four = Promise.withResolvers<void>();
  script.beforeReply = async () => {
    most = Math.max(most, ++running);
    if (++begun === 4) four.resolve();
    await four.promise;
    running--;
    if (begun === 9) throw new Error("the last one breaks");
  };
  const run = await runToEnd(agents, agent);
  await another.stop();
  expect([most, run.status, run.results[0]?.passes]).toEqual([4, "PASSED", 8]);
});

test("a cancelled run begins no further conversation, and of those under way only what they have cost is added", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Long", { ...greets, messages: ["Hello", "Hello again"], repeat: 6 }));
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const heard: string[] = [];
  script.beforeReply = async (message) => {
    heard.push(message);
    if (heard.length === 4) reached.resolve();
    await release.promise;
  };
  const { run } = await agents.runTests(RunTestsRequest.fromPartial({ ...keyOf(agent) }));
  await reached.promise;
  const { runId } = present(run);
  const cancelled = present((await agents.cancelTestRun({ ...keyOf(agent), runId, ...key })).run);
  expect([cancelled.status, cancelled.ended]).toEqual(["CANCELLED", 6]);
  release.resolve();
  await eventually(async () => expect(await openJobs(agent.ownerId)).toBe(0));
  expect(heard).toEqual(["Hello", "Hello", "Hello", "Hello"]);
  const after = await ended(agents, { ...keyOf(agent), runId });
  expect([after.status, after.costUsdMicros]).toEqual(["CANCELLED", 4 * REPLY_COST]);
  const attempts = after.results[0]?.attempts ?? [];
  expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set(["CANCELLED"]));
  expect(attempts.filter(({ conversationId }) => conversationId !== undefined)).toHaveLength(4);
});

test("a run stops at its cap, and one that cannot know its cost is refused unless that is allowed", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Costly", { ...greets, repeat: 9 }));
  const capped = { maxCostUsdMicros: REPLY_COST };
  expect(await failure(agents.runTests({ ...RunTestsRequest.fromPartial(keyOf(agent)), ...capped }))).toMatchObject({
    kind: "invalid",
    paths: ["max_cost_usd"],
  });
  const run = await runToEnd(agents, agent, { ...capped, allowUnpriced: true });
  expect(run).toMatchObject({ status: "ERROR", error: expect.stringContaining("max_cost_usd") });
  const statuses = run.results[0]?.attempts.map(({ status }) => status) ?? [];
  expect(statuses.filter((status) => status === "CANCELLED").length).toBeGreaterThanOrEqual(5);
});

test("a run whose last conversation reaches its cap has not failed for that", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Just enough", greets));
  const run = await runToEnd(agents, agent, { maxCostUsdMicros: REPLY_COST, allowUnpriced: true });
  expect([run.status, run.costUsdMicros, run.error]).toEqual(["PASSED", REPLY_COST, undefined]);
});

test("an attempt whose process dies is begun anew by another one, and nothing of it counts twice", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Anew", greets));
  const frozen = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let times = 0;
  script.beforeReply = async () => {
    if (++times > 1) return;
    begun.resolve();
    await frozen.promise;
  };
  const { run } = await agents.runTests(RunTestsRequest.fromPartial(keyOf(agent)));
  await begun.promise;
  await endLeases(agent.ownerId);
  const first = await ended(agents, { ...keyOf(agent), runId: present(run).runId });
  frozen.resolve();
  await eventually(async () => expect(await openJobs(agent.ownerId)).toBe(0));
  const again = await ended(agents, { ...keyOf(agent), runId: first.runId });
  expect([again.status, again.costUsdMicros, again.total]).toEqual(["PASSED", REPLY_COST, 1]);
  expect(again.results).toEqual(first.results);
});

test("what a conversation had cost when its process died counts in the run, and a reply under way as unknown", async () => {
  const agent = await manualAgent(agents);
  const persona = { kind: "simulated", persona: "Curious", goal: "Know it all", first_message: "Hello" };
  await agents.createTest(newTest(agent, "Anew", { ...persona, assertions: greets.assertions }));
  const [second, done] = [
    { message: "And then?", state: "continue" },
    { message: "", state: "goal_met" },
  ];
  script.answer = ({ message }) => (message.includes("AND THEN?") ? done : second);
  const { runId, frozen } = await runUntilFrozen(agent, "And then?");
  await endLeases(agent.ownerId);
  const run = await ended(agents, { ...keyOf(agent), runId });
  frozen.resolve();
  const [attempt] = run.results.flatMap(({ attempts }) => attempts);
  const asked = 3 * 100;
  expect([attempt?.status, run.costUsdMicros, run.unpricedReplies]).toEqual(["PASSED", 3 * REPLY_COST + asked, 1]);
  const [left, again] = [...stack.held.values()].filter(({ test }) => test?.runId === runId);
  expect([left?.conversation.endedBy, again?.conversation.conversationId]).toEqual([
    EndedBy.ENDED_BY_SYSTEM,
    attempt?.conversationId,
  ]);
});

test("a judge's answer that was under way when its process died counts as unknown, and as what it cost if it still comes", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(
    newTest(agent, "Judged", { ...greets, assertions: [{ type: "judge", criterion: "Polite" }] }),
  );
  const [frozen, asked] = [Promise.withResolvers<object>(), Promise.withResolvers<void>()];
  const yes = { verdict: "yes", reason: "So it is." };
  let times = 0;
  script.answer = () => {
    if (++times > 1) return yes;
    asked.resolve();
    return frozen.promise;
  };
  const { run: begun } = await agents.runTests(RunTestsRequest.fromPartial(keyOf(agent)));
  await asked.promise;
  await endLeases(agent.ownerId);
  const runKey = { ...keyOf(agent), runId: present(begun).runId };
  const run = await ended(agents, runKey);
  const costOfOne = REPLY_COST + 100;
  expect([run.status, run.costUsdMicros, run.unpricedReplies]).toEqual(["PASSED", 2 * costOfOne - 100, 1]);
  frozen.resolve(yes);
  await eventually(async () => {
    const later = await ended(agents, runKey);
    expect([later.costUsdMicros, later.unpricedReplies]).toEqual([2 * costOfOne, 0]);
  });
});

test("a conversation whose process died is not begun anew once it has cost as much as its run may", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Capped", { ...greets, messages: ["Hello", "Hello again"] }));
  const capped = { maxCostUsdMicros: REPLY_COST, allowUnpriced: true };
  const { runId, frozen } = await runUntilFrozen(agent, "Hello again", capped);
  await endLeases(agent.ownerId);
  const run = await ended(agents, { ...keyOf(agent), runId });
  frozen.resolve();
  expect([run.status, run.costUsdMicros, run.error]).toEqual([
    "ERROR",
    REPLY_COST,
    expect.stringContaining("max_cost_usd"),
  ]);
});

test("what a conversation had cost counts in its run even if that was cancelled after its process died", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Cancelled", { ...greets, messages: ["Hello", "Hello again"] }));
  const { runId, frozen } = await runUntilFrozen(agent, "Hello again");
  await agents.cancelTestRun({ ...keyOf(agent), runId, ...key });
  await endLeases(agent.ownerId);
  await eventually(async () => {
    const run = await ended(agents, { ...keyOf(agent), runId });
    expect([run.status, run.costUsdMicros, run.unpricedReplies]).toEqual(["CANCELLED", REPLY_COST, 1]);
  });
  frozen.resolve();
});

test("a conversation that cannot be read after its process died counts as a reply of unknown cost", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Unread", greets));
  const { runId, frozen } = await runUntilFrozen(agent, "Hello");
  let reads = 0;
  script.beforeRead = async () => {
    if (++reads === 1) throw new ServiceError("internal", "Out of order");
  };
  await endLeases(agent.ownerId);
  const run = await ended(agents, { ...keyOf(agent), runId });
  frozen.resolve();
  expect([run.status, run.costUsdMicros, run.unpricedReplies]).toEqual(["PASSED", REPLY_COST, 1]);
});

test("a conversation that was begun three times, and whose processes ended each time, is given up", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Deadly", { ...greets, repeat: 5, pass_at_least: 4 }));
  const [four, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  script.beforeReply = () => {
    if (++begun === 4) four.resolve();
    return release.promise;
  };
  const { run } = await agents.runTests(RunTestsRequest.fromPartial(keyOf(agent)));
  await four.promise;
  await sql`update test_attempts set starts = 3 where owner_id = ${agent.ownerId} and status = 'QUEUED'`;
  release.resolve();
  const { status, results } = await ended(agents, { ...keyOf(agent), runId: present(run).runId });
  expect([status, begun, results[0]?.passes]).toEqual(["PASSED", 4, 4]);
  expect(results[0]?.attempts.at(-1)).toMatchObject({
    status: "ERROR",
    outcome: expect.stringContaining("ended 3 times"),
  });
});

test("a process that stops waits for no conversation, and another one begins them anew", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Handed over", { ...greets, repeat: 8 }));
  const another = await startAgent(readAgentConfig(stack.env()), silentLogger, stack.clock);
  const [four, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  script.beforeReply = () => {
    if (++begun === 4) four.resolve();
    return release.promise;
  };
  const { run } = await agents.runTests(RunTestsRequest.fromPartial(keyOf(agent)));
  await four.promise;
  await another.stop();
  release.resolve();
  const held = await ended(agents, { ...keyOf(agent), runId: present(run).runId });
  expect([held.status, held.costUsdMicros]).toEqual(["PASSED", 8 * REPLY_COST]);
});

test("a conversation whose service is replaced meanwhile is held anew, and is an error if that does not help", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Interrupted", greets));
  const [error, lanes] = [new ServiceError("unavailable", "The service is stopping"), [0, 1, 2, 3]];
  const runWith = async (failures: number) => {
    let times = 0;
    script.beforeReply = async () => {
      if (++times <= failures) throw error;
    };
    const { run } = await agents.runTests(RunTestsRequest.fromPartial(keyOf(agent)));
    return eventually(async () => {
      await makeDue(sql, ...lanes.map((lane) => `test-lanes.${lane}`));
      const { run: now } = await agents.getTestRun({ ...keyOf(agent), runId: present(run).runId, testId: "" });
      expect(now?.endedAt).toBeDate();
      return { run: present(now), times };
    });
  };
  expect(await runWith(1)).toMatchObject({ run: { status: "PASSED", costUsdMicros: REPLY_COST }, times: 2 });
  const { run, times } = await runWith(9);
  expect([run.status, times, outcomesOf(run)]).toEqual(["ERROR", 3, [{ error: error.detail }]]);
});

test("a judge that cannot be asked is an error, and the replies before count once", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(
    newTest(agent, "Judged", { ...greets, assertions: [{ type: "judge", criterion: "Polite" }] }),
  );
  script.answer = () => {
    throw new ServiceError("condition", "The model has no key");
  };
  const run = await runToEnd(agents, agent);
  expect([run.status, run.costUsdMicros, outcomesOf(run)]).toEqual([
    "ERROR",
    REPLY_COST,
    [{ error: "The model has no key" }],
  ]);
});

test("a judge may be another model at the endpoint of the agent's own, with its key and at temperature 0", async () => {
  const llm = customLlm("https://models.example/v1", "sk-own");
  const publishing = Publishing.PUBLISHING_MANUAL;
  const agent = await create(agents, { ...creation(newOwner()), llm, publishing });
  const params = { base_url: "https://models.example/v1" };
  const model = { provider_name: "CUSTOM_LLM", model_name: "judge", params };
  const assertions = [
    { type: "judge", criterion: "Polite", model },
    { type: "analysis", field: "mood", equals: "good" },
  ];
  await agents.createTest(newTest(agent, "Judged", { ...greets, assertions }));
  script.analysis = { mood: "good" };
  expect((await runToEnd(agents, agent)).status).toBe("PASSED");
  expect(script.asked.map(({ llm }) => llm)).toMatchObject([
    { modelName: "judge", params: { baseUrl: params.base_url, apiKey: "sk-own", temperature: 0 }, fallbacks: [] },
  ]);
});

test("a conversation that cannot be held is an error with its reason", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Broken", greets));
  script.beforeReply = async () => {
    throw new Error("a secret of the process");
  };
  const run = await runToEnd(agents, agent);
  expect([run.status, run.results[0]?.attempts[0]?.status]).toEqual(["ERROR", "ERROR"]);
  expect(Object.keys(outcomesOf(run)[0])).toEqual(["error"]);
  expect(JSON.stringify(run)).not.toContain("a secret");
  // Otherwise it would be in progress until it is idle for long.
  const conversation = stack.held.get(run.results[0]?.attempts[0]?.conversationId ?? "")?.conversation;
  expect(conversation?.endedBy).toBe(EndedBy.ENDED_BY_SYSTEM);
});

test("whoever watches a run sees it at first and until it has ended, then with all that was said", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Watched", greets));
  const release = Promise.withResolvers<void>();
  script.beforeReply = () => release.promise;
  const { run } = await agents.runTests(RunTestsRequest.fromPartial(keyOf(agent)));
  const seen: TestRun[] = [];
  for await (const told of agents.watchTestRun({ ...keyOf(agent), runId: present(run).runId })) {
    seen.push(present(told.run));
    release.resolve();
  }
  expect([seen[0]?.endedAt, seen.at(-1)?.status]).toEqual([undefined, "PASSED"]);
  expect(outcomesOf(seen.at(-1) as TestRun)[0].transcript.turns).toHaveLength(1);
});

test("an agent's tests are listed by name, with the numbers in their names as people count", async () => {
  const agent = await manualAgent(agents);
  for (const name of ["T10 Refund", "T2 Order", "greeting", "T1 Order"])
    await agents.createTest(newTest(agent, name, greets));
  const { tests } = await agents.listTests(agent);
  expect(tests.map(({ name }) => name)).toEqual(["greeting", "T1 Order", "T2 Order", "T10 Refund"]);
});

test("a test refers only to tools, agents and models that there are", async () => {
  const agent = await manualAgent(agents);
  const refused = async (definition: object) =>
    (await failure(agents.createTest(newTest(agent, "Refused", { ...greets, ...definition })))).paths;
  expect(await refused({ tool_mocks: [{ tool: "look_up", result: 1 }] })).toEqual(["tool_mocks.0.tool"]);
  expect(await refused({ assertions: [{ type: "tool_called", tool: "look_up" }] })).toEqual(["assertions.0.tool"]);
  const another = await create(agents, creation(newOwner()));
  expect(await refused({ assertions: [{ type: "handed_off_to", agent_id: another.agentId }] })).toEqual([
    "assertions.0.agent_id",
  ]);
  expect(await refused({ assertions: [{ type: "source_used", document: "Shipping" }] })).toEqual([
    "assertions.0.document",
  ]);
  const model = { provider_name: "CUSTOM_LLM", model_name: "own", params: { base_url: "https://elsewhere.example" } };
  expect(await refused({ assertions: [{ type: "judge", criterion: "Polite", model }] })).toEqual([
    "assertions.0.model.params.base_url",
  ]);
  await agents.createTest(
    newTest(agent, "Built in", { ...greets, assertions: [{ type: "tool_not_called", tool: "end_call" }] }),
  );
});

test("a required test needs an agent that publishes by hand, and keeps it so", async () => {
  const auto = await create(agents, creation(newOwner()));
  expect(await failure(agents.createTest(newTest(auto, "Gate", greets, true)))).toMatchObject({
    kind: "invalid",
    paths: ["required"],
  });
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Gate", greets, true));
  const published = change(agents, agent, { publishing: Publishing.PUBLISHING_AUTO });
  expect(await failure(published)).toMatchObject({ kind: "invalid", paths: ["publishing"] });
});

test("only whoever may override clears or deletes a required test, and the publish log tells of it", async () => {
  const agent = await manualAgent(agents);
  const made = await Promise.all(
    ["Cleared", "Deleted"].map((name) => agents.createTest(newTest(agent, name, greets, true))),
  );
  const [cleared, deleted] = made.map(({ test: { testId } = { testId: "" } }) => ({ ...keyOf(agent), testId }));
  const clearing = { ...UpdateTestRequest.fromPartial(present(cleared)), required: false };
  const refusal = {
    kind: "forbidden",
    detail: "The API key lacks the scope agents:override, which * does not include",
  };
  expect(await failure(agents.updateTest(clearing))).toMatchObject(refusal);
  expect(await failure(agents.deleteTest({ ...present(deleted), mayOverride: false, ...key }))).toMatchObject(refusal);
  await agents.updateTest({ ...clearing, mayOverride: true });
  await agents.deleteTest({ ...present(deleted), mayOverride: true, ...key });
  expect([
    ...(await sql`select kind, note from agent_publishes where agent_id = ${agent.agentId} order by number`),
  ]).toEqual([
    { kind: "test_cleared", note: "Cleared" },
    { kind: "test_deleted", note: "Deleted" },
  ]);
  // Whoever may only write agents deletes a test that is not required.
  await agents.deleteTest({ ...present(cleared), mayOverride: false, ...key });
});

test("the publish log tells who changes which fields of a required test, and nothing of other changes", async () => {
  const agent = await manualAgent(agents);
  const changing = async (isRequired: boolean, given: Partial<UpdateTestRequest>) => {
    const name = isRequired ? "Gate" : "Optional";
    const { tests } = await agents.listTests({ ...keyOf(agent) });
    const testId = present(tests.find((each) => each.name === name)).testId;
    const request = { ...UpdateTestRequest.fromPartial({ ...keyOf(agent), testId }), ...given };
    await agents.updateTest(request, { origin: { requestId: "r", actor: { kind: "key", id: "key_ada" } } });
  };
  await agents.createTest(newTest(agent, "Gate", { ...greets, repeat: 3 }, true));
  await agents.createTest(newTest(agent, "Optional", greets));
  await changing(false, { definition: { repeat: 2 } });
  await changing(true, { name: "Gate", definition: { messages: greets.messages } });
  await changing(true, { definition: { pass_at_least: 1, assertions: [{ type: "contains", value: "h" }] } });
  await changing(true, { name: "Door" });
  const { publishes } = await agents.listPublishes({ ...keyOf(agent), page: { number: 1, size: 10 } });
  expect(publishes.map(({ kind, note, createdBy }) => [kind, note, createdBy])).toEqual([
    ["test_changed", "Gate: name", "key:key_ada"],
    ["test_changed", "Gate: pass_at_least, assertions", "key:key_ada"],
  ]);
});

test("a change of a test keeps what it does not name, and what only the other kind has goes with the kind", async () => {
  const agent = await manualAgent(agents);
  const { test: made } = await agents.createTest(newTest(agent, "Changing", { ...greets, repeat: 3 }));
  const updated = async (definition: object) => {
    const request = UpdateTestRequest.fromPartial({ ...keyOf(agent), testId: present(made).testId });
    return present((await agents.updateTest({ ...request, definition: { ...definition } })).test).definition;
  };
  expect(await updated({ repeat: 5 })).toMatchObject({ repeat: 5, pass_at_least: 5, messages: ["Hello"] });
  expect(await updated({ pass_at_least: 4 })).toMatchObject({ repeat: 5, pass_at_least: 4 });
  expect(await updated({ kind: "simulated", persona: "A", goal: "B" })).toMatchObject({ messages: [], turns_max: 10 });
  expect(await updated({ kind: "scripted", messages: ["Hi"] })).toMatchObject({ persona: null, turns_max: null });
});

test("a test whose tool is gone can still be renamed and no longer be required, and its name is the only one of the agent", async () => {
  const agent = await manualAgent(agents);
  const tool = await createTool(agents, agent.ownerId, httpTool("look_up"));
  const mocked = { ...greets, tool_mocks: [{ tool: "look_up", result: 1 }] };
  const { test: made } = await agents.createTest(newTest(agent, "Mocked", mocked, true));
  await agents.createTest(newTest(agent, "Greets", greets));
  await agents.deleteTool({ ownerId: agent.ownerId, toolId: tool.toolId, ...key });
  const change = { ...UpdateTestRequest.fromPartial({ ...keyOf(agent), testId: present(made).testId }) };
  const renamed = await agents.updateTest({ ...change, name: "Renamed", required: false, mayOverride: true });
  expect(renamed.test).toMatchObject({ name: "Renamed", required: false });
  expect(await failure(agents.updateTest({ ...change, name: "Greets" }))).toMatchObject({ kind: "conflict" });
  expect(await failure(agents.updateTest({ ...change, definition: { repeat: 2 } }))).toMatchObject({
    paths: ["tool_mocks.0.tool"],
  });
});

test("what was said in a run is left out as far as it exceeds 3 MiB, first of what passed, and a test's alone is there", async () => {
  const agent = await manualAgent(agents);
  for (const name of ["A", "B", "C"]) await agents.createTest(newTest(agent, name, greets));
  const { runId } = await runToEnd(agents, agent);
  await sql`
    update test_attempts set outcome = json_build_object('error', repeat('x', 1200000)), status = case when name = 'C' then 'FAILED' else 'PASSED' end
    where run_id = ${runId}`;
  const outcomes = async (testId: string) =>
    present((await agents.getTestRun({ ...keyOf(agent), runId, testId })).run).results.map(
      ({ name, attempts }) => `${name} ${attempts[0]?.outcome === undefined}`,
    );
  expect(await outcomes("")).toEqual(["A false", "B true", "C false"]);
  const { tests } = await agents.listTests(keyOf(agent));
  expect(await outcomes(present(tests[1]).testId)).toEqual(["B false"]);
});

test("a list of runs has the result of each test as the run has it, but none of the attempts", async () => {
  const agent = await manualAgent(agents);
  const fails = { ...greets, assertions: [{ type: "contains", value: "goodbye" }], repeat: 2, pass_at_least: 1 };
  for (const [name, definition] of Object.entries({ A: { ...greets, repeat: 3 }, B: fails }))
    await agents.createTest(newTest(agent, name, definition));
  const runs = [await runToEnd(agents, agent), await runToEnd(agents, agent)];
  const { runs: listed } = await agents.listTestRuns({ ...keyOf(agent), page: { number: 1, size: 10 } });
  expect(listed).toEqual(
    runs.toReversed().map((run) => ({ ...run, results: run.results.map((result) => ({ ...result, attempts: [] })) })),
  );
  expect(listed[0]).toMatchObject({ ended: 5, total: 5, results: [{ passes: 3 }, { status: "FAILED", passes: 0 }] });
});

test("an agent can be deleted at the moment in which a conversation of its tests begins", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Gone", greets));
  const { runId } = await runToEnd(agents, agent);
  let deleted: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    // As a lane does.
    await tx`select from test_runs where run_id = ${runId} for update`;
    deleted = agents.deleteAgent(deletion(agent));
    await eventually(async () =>
      expect(
        (await tx`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).count,
      ).toBe(1),
    );
    await tx`update test_attempts set starts = starts + 1 where run_id = ${runId}`;
  });
  await deleted;
  expect([...(await sql`select from test_attempts where run_id = ${runId}`)]).toEqual([]);
});

test("a run is deleted after 30 days with what was said in it", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Old", greets));
  const { runId } = await runToEnd(agents, agent);
  await sql`update test_runs set created_at = '2000-01-01' where run_id = ${runId}`;
  const stored = async () => (await sql`select from test_attempts where run_id = ${runId}`).count;
  await deleteOldRows(sql, OLD_RUNS, new Date("2000-01-30"));
  expect(await stored()).toBe(1);
  await deleteOldRows(sql, OLD_RUNS, new Date("2000-02-01"));
  expect(await stored()).toBe(0);
});

test("the tests of an agent and all that came of them go with the agent", async () => {
  const agent = await manualAgent(agents);
  await agents.createTest(newTest(agent, "Gone", greets));
  await runToEnd(agents, agent);
  await agents.deleteAgent(deletion(agent));
  const tables = ["agent_tests", "test_runs", "test_attempts", "test_passes"];
  const left = await Promise.all(
    tables.map((table) => sql`select from ${sql(table)} where owner_id = ${agent.ownerId}`),
  );
  expect(left.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
  expect([...(await sql`select bytes::integer from stored_bytes where owner_id = ${agent.ownerId}`)]).toEqual([
    { bytes: 0 },
  ]);
});

function keyOf({ ownerId, agentId }: { ownerId: string; agentId: string }) {
  return { ownerId, agentId };
}

/** Begins a run, and waits until its first reply to this message is under way, which it stays. */
async function runUntilFrozen(
  agent: { ownerId: string; agentId: string },
  at: string,
  given: Partial<RunTestsRequest> = {},
) {
  const [frozen, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let times = 0;
  script.beforeReply = async (message) => {
    if (message !== at || ++times > 1) return;
    reached.resolve();
    await frozen.promise;
  };
  const { run } = await agents.runTests({ ...RunTestsRequest.fromPartial(keyOf(agent)), ...given });
  await reached.promise;
  return { runId: present(run).runId, frozen };
}

/** As when the process is gone that held the owner's conversations. */
async function endLeases(ownerId: string): Promise<void> {
  await sql`update jobs set lease = lease + 1, leased_until = null where owner_id = ${ownerId} and leased_until is not null`;
  await tellWorkers(sql);
}

async function openJobs(ownerId: string): Promise<number> {
  return (await sql`select from jobs where owner_id = ${ownerId} and queue = 'test-lanes'`).count;
}
