import { afterAll, expect, test } from "bun:test";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { PublishAgentVersionRequest, SetTrafficRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { RunTestsRequest, UpdateTestRequest } from "@parley/proto/parley/agent/v1/test.ts";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { change, present } from "./kit.ts";
import { manualAgent, newTest, runToEnd, startTestStack } from "./tests-kit.ts";
import { createTool, httpTool, toolChange } from "./tools-kit.ts";

const stack = await startTestStack();
const { agents, clock, sql } = stack;
afterAll(() => stack.stop());

const greets = { messages: ["Hello"], assertions: [{ type: "contains", value: "hello" }] };
const never = { messages: ["Hello"], assertions: [{ type: "contains", value: "goodbye" }] };
const MONTH_MS = 31 * 24 * 60 * 60_000;

function publish({ ownerId, agentId }: Agent, agentVersion: number, reason?: string) {
  const override = reason === undefined ? undefined : { reason };
  return agents.publishAgentVersion({
    ...PublishAgentVersionRequest.fromPartial({ ownerId, agentId, agentVersion }),
    override,
  });
}

/** An agent with a required test that passes for every version. */
async function gatedAgent() {
  const agent = await manualAgent(agents);
  const { test: made } = await agents.createTest(newTest(agent, "Greets", greets, true));
  return { agent, testKey: { ownerId: agent.ownerId, agentId: agent.agentId, testId: present(made).testId } };
}

const missing = (what: string) => ({
  kind: "conflict",
  detail: `Required tests have not passed within 30 days: ${what}. Run them, or give an override with its reason`,
});

test("a version is published only once its required tests have passed for it, and the refusal lists those that have not", async () => {
  const { agent } = await gatedAgent();
  await agents.createTest(newTest(agent, "Says goodbye", never, true));
  await agents.createTest(newTest(agent, "Not required", never));
  const both = { ...missing("Greets, Says goodbye for version 1"), paths: ["override", "override"] };
  expect(await failure(publish(agent, 1))).toEqual(both);
  await runToEnd(agents, agent);
  expect(await failure(publish(agent, 1))).toMatchObject(missing("Says goodbye for version 1"));
});

test("a pass is good for what a version has, and for the test as it was, but not for another one of either", async () => {
  const { agent, testKey } = await gatedAgent();
  await runToEnd(agents, agent);
  await publish(agent, 1);
  await change(agents, agent, { timezone: "Europe/Berlin" });
  expect(await failure(publish(agent, 2))).toMatchObject(missing("Greets for version 2"));
  await change(agents, agent, { clear: ["timezone"] });
  await publish(agent, 3);
  await change(agents, agent, { timezone: "Europe/Berlin" });
  await runToEnd(agents, agent, { agentVersion: 4 });
  await agents.updateTest({ ...UpdateTestRequest.fromPartial(testKey), definition: { repeat: 2 } });
  expect(await failure(publish(agent, 4))).toMatchObject(missing("Greets for version 4"));
});

test("a changed tool of the version asks for new passes", async () => {
  const { agent } = await gatedAgent();
  const { ownerId } = agent;
  const tool = await createTool(agents, ownerId, httpTool("look_up"));
  await change(agents, agent, { customTools: { values: [{ toolId: tool.toolId }] } });
  await runToEnd(agents, agent);
  await publish(agent, 2);
  await agents.updateTool(toolChange(ownerId, tool, httpTool("look_up", { url: "https://shop.example/v2" }), ["url"]));
  expect(await failure(publish(agent, 3))).toMatchObject(missing("Greets for version 3"));
});

test("a test that has passed opens the gate, also if the rest of its run is cancelled", async () => {
  const { agent } = await gatedAgent();
  const { ownerId, agentId } = agent;
  await agents.createTest(newTest(agent, "Waits", { ...greets, messages: ["Hello, wait"] }, true));
  const release = Promise.withResolvers<void>();
  stack.script.beforeReply = async (message) => {
    if (message === "Hello, wait") await release.promise;
  };
  const { run } = await agents.runTests(RunTestsRequest.fromPartial({ ownerId, agentId }));
  const runKey = { ownerId, agentId, runId: present(run).runId };
  await eventually(async () => {
    const { run: now } = await agents.getTestRun({ ...runKey, testId: "" });
    expect(now?.results[0]?.passed).toBe(true);
  });
  await agents.cancelTestRun({ ...runKey, idempotency: undefined });
  release.resolve();
  expect(await failure(publish(agent, 1))).toMatchObject(missing("Waits for version 1"));
});

test("a test that a run names more than once has no more attempts to pass in", async () => {
  const { agent, testKey } = await gatedAgent();
  const run = await runToEnd(agents, agent, { tests: ["Greets", testKey.testId] });
  expect(run.total).toBe(1);
});

test("a split of the traffic needs the passes that publishing needs, or an override", async () => {
  const { agent } = await gatedAgent();
  await runToEnd(agents, agent);
  await publish(agent, 1);
  await change(agents, agent, { timezone: "Europe/Berlin" });
  const split = [1, 2].map((agentVersion) => ({ agentVersion, weight: 50 }));
  const { ownerId, agentId } = agent;
  const set = (override?: { reason: string }) =>
    agents.setTraffic({ ...SetTrafficRequest.fromPartial({ ownerId, agentId }), split, override });
  expect(await failure(set())).toMatchObject(missing("Greets for version 2"));
  const override = { reason: "The model's provider is down" };
  expect((await set(override)).publish).toMatchObject({ kind: "traffic", overrideReason: override.reason });
  await runToEnd(agents, agent);
  expect((await set()).publish?.split).toEqual(split);
});

test("an override publishes without a pass, and the publish log has its reason", async () => {
  const { agent } = await gatedAgent();
  expect(await failure(publish(agent, 1, " "))).toMatchObject({ kind: "invalid", paths: ["override.reason"] });
  const { publish: logged } = await publish(agent, 1, "The model's provider is down");
  expect(logged).toMatchObject({ kind: "publish", agentVersion: 1, overrideReason: "The model's provider is down" });
});

test("rolling back waits for no test", async () => {
  const { agent } = await gatedAgent();
  await publish(agent, 1, "Before there were tests");
  await change(agents, agent, { timezone: "Europe/Berlin" });
  await runToEnd(agents, agent);
  await publish(agent, 2);
  expect((await publish(agent, 1)).publish).toMatchObject({ kind: "rollback", agentVersion: 1 });
});

test("a pass counts for 30 days", async () => {
  const { agent } = await gatedAgent();
  await runToEnd(agents, agent);
  await sql`update test_passes set passed_at = ${new Date(clock.now().getTime() - MONTH_MS)} where owner_id = ${agent.ownerId}`;
  expect(await failure(publish(agent, 1))).toMatchObject(missing("Greets for version 1"));
});
