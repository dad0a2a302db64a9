import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import type { ChangedKey, Changes, WatchState } from "@parley/proto/parley/common/v1/changes.ts";
import { eventually } from "@parley/testkit/eventually";
import { createSubscribers, type Subscribers } from "../src/changes/subscribers.ts";
import { type AgentMemory, rememberAgents } from "../src/domain/agent-memory.ts";
import { silentLogger } from "../src/log.ts";

interface TestAgent {
  name: string;
  promptName: string | undefined;
}

const OWNER = "own_1";
const FOREVER_MS = 1e9;

let agents: Subscribers;
let prompts: Subscribers;
let memory: AgentMemory<TestAgent>;
let reads: string[];
/** How often the memory asked for a lease. */
let asked: { agents: number; prompts: number };
let beforeAnswer: () => Promise<void>;

beforeEach(async () => {
  [agents, prompts] = [createSubscribers(FOREVER_MS, () => {}), createSubscribers(FOREVER_MS, () => {})];
  reads = [];
  asked = { agents: 0, prompts: 0 };
  beforeAnswer = async () => {};
  memory = rememberAgents<TestAgent>({
    read: async (ownerId, agentId) => {
      reads.push(`${ownerId} ${agentId}`);
      await beforeAnswer();
      return { name: `${agentId} read ${reads.length}`, promptName: agentId === "bare" ? undefined : `for ${agentId}` };
    },
    watchAgents: watchOf(agents, () => asked.agents++),
    watchPrompts: watchOf(prompts, () => asked.prompts++),
    promptNameOf: ({ promptName }) => promptName,
    bytesOf: () => 100,
    log: silentLogger,
  });
  agents.extend(performance.now() + FOREVER_MS);
  prompts.extend(performance.now() + FOREVER_MS);
  await eventually(async () => {
    await memory.get(OWNER, "warm");
    const before = reads.length;
    await memory.get(OWNER, "warm");
    expect(reads).toHaveLength(before);
  });
  reads = [];
});
afterEach(() => memory.close());

function watchOf(subscribers: Subscribers, onAsked: () => void) {
  return async function* (states: AsyncIterable<{ state: WatchState }>): AsyncGenerator<{ changes: Changes }> {
    const given = async function* () {
      for await (const { state } of states) {
        onAsked();
        yield state;
      }
    };
    for await (const changes of subscribers.serve(given())) yield { changes };
  };
}

const changed = (name: string): ChangedKey => ({ ownerId: OWNER, name });

test("an agent is read once and then remembered, separately for each owner", async () => {
  for (let use = 0; use < 5; use++) expect((await memory.get(OWNER, "desk")).name).toBe("desk read 1");
  await memory.get("own_2", "desk");
  expect(reads).toEqual([`${OWNER} desk`, "own_2 desk"]);
});

test("the first use after a pause asks both services for a lease", async () => {
  const now = performance.now();
  using _ = spyOn(performance, "now").mockImplementation(() => now + 2 * FOREVER_MS);
  const before = { ...asked };
  await memory.get(OWNER, "desk");
  await eventually(() => {
    expect(asked.agents).toBeGreaterThan(before.agents);
    expect(asked.prompts).toBeGreaterThan(before.prompts);
  });
});

test("a changed agent is read again, and the others are not", async () => {
  await memory.get(OWNER, "desk");
  await memory.get(OWNER, "door");
  agents.tell(changed("desk"));
  await agents.settled();
  await memory.get(OWNER, "desk");
  await memory.get(OWNER, "door");
  expect(reads).toEqual([`${OWNER} desk`, `${OWNER} door`, `${OWNER} desk`]);
});

test("after a prompt changes, the agents that use it and those without a prompt are read again", async () => {
  for (const agentId of ["desk", "door", "bare"]) await memory.get(OWNER, agentId);
  prompts.tell(changed("for desk"));
  await prompts.settled();
  reads = [];
  for (const agentId of ["desk", "door", "bare"]) await memory.get(OWNER, agentId);
  expect(reads).toEqual([`${OWNER} desk`, `${OWNER} bare`]);
});

test("an answer that a change has overtaken is not cached", async () => {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  beforeAnswer = () => told;
  const reading = memory.get(OWNER, "desk");
  agents.tell(changed("desk"));
  await agents.settled();
  answer();
  await reading;
  await memory.get(OWNER, "desk");
  expect(reads).toHaveLength(2);
});

test("one owner's changes do not keep another owner's answer in flight from being cached", async () => {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  beforeAnswer = () => told;
  const reading = memory.get("own_2", "desk");
  agents.tell(changed("desk"));
  await agents.settled();
  answer();
  await reading;
  await memory.get("own_2", "desk");
  expect(reads).toHaveLength(1);
});

test("while one of the services reports no changes, every use asks", async () => {
  await memory.get(OWNER, "desk");
  prompts.end(new Error("the service stops"));
  await eventually(async () => {
    const before = reads.length;
    await memory.get(OWNER, "desk");
    await memory.get(OWNER, "desk");
    expect(reads.length).toBe(before + 2);
  });
});
