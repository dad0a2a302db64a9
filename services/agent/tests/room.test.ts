import { afterAll, expect, test } from "bun:test";
import { Publishing } from "@parley/proto/parley/agent/v1/agent.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { byName, change, create, creation, deletion, inline, read, startTestAgents, update } from "./kit.ts";
import { clientTool, createTool } from "./tools-kit.ts";

/** Two agents with long tips fit, three do not. */
const BYTES_MAX = 40_000;
const LONG = Array.from({ length: 8 }, () => "x".repeat(1_000));
const FULL = {
  kind: "conflict",
  detail:
    "Agents with their versions, tools, and tests with their results would have more than 40,000 bytes together: delete those that you no longer need",
};

const service = await startTestAgents({ PARLEY_AGENTS_OWNER_BYTES: String(BYTES_MAX) });
afterAll(() => service.stop());

const tips = (agentTips: string[]) => ({ agentTips: { values: agentTips } });

test("a full owner's agents can neither be added nor changed; deleting one makes room", async () => {
  const { agents } = service;
  const owner = newOwner();
  const long = (given = {}) => create(agents, creation(owner, { agentTips: LONG, ...given }));
  const first = await long();
  const second = await long();
  expect(await failure(long())).toMatchObject(FULL);
  expect(await failure(long({ prompt: inline("Be brief.") }))).toMatchObject(FULL);
  expect(await failure(change(agents, first, tips([...LONG].reverse())))).toMatchObject(FULL);
  await agents.deleteAgent(deletion(first));
  const third = await long();
  for (const agent of [second, third]) await agents.deleteAgent(deletion(agent));
  const { sql } = service;
  expect([...(await sql`select bytes::integer from stored_bytes where owner_id = ${owner}`)]).toEqual([{ bytes: 0 }]);
  await long();
});

test("tools take of the same room, and deleting one gives it back", async () => {
  const { agents, sql } = service;
  const owner = newOwner();
  const long = (name: string) => {
    const tool = clientTool(name);
    return createTool(agents, owner, { ...tool, description: "x".repeat(15_000) });
  };
  const first = await long("first");
  const second = await long("second");
  expect(await failure(long("third"))).toMatchObject(FULL);
  expect(await failure(create(agents, creation(owner, { agentTips: LONG })))).toMatchObject(FULL);
  for (const { toolId } of [first, second]) await agents.deleteTool({ ownerId: owner, toolId, idempotency: undefined });
  expect([...(await sql`select bytes::integer from stored_bytes where owner_id = ${owner}`)]).toEqual([{ bytes: 0 }]);
});

test("versions fill the room; those that no new conversation has got for 30 days make room for new ones, with their entries of the publish log", async () => {
  const { agents, clock, sql } = service;
  const owner = newOwner();
  const agent = await create(agents, creation(owner, { agentTips: LONG }));
  const rename = (agentName: string) => change(agents, agent, { agentName });
  for (const name of ["Second", "Third"]) await rename(name);
  expect(await failure(rename("Fourth"))).toMatchObject(FULL);
  clock.advance(31 * 24 * 60 * 60_000);
  expect(await rename("Fourth")).toMatchObject({ agentName: "Fourth", agentVersion: 4 });
  const kept = await sql<{ version: number }[]>`
    select agent_version as version from agent_versions where owner_id = ${owner} order by 1`;
  // A conversation that began before the last change may have the third one.
  expect(kept.map(({ version }) => version)).toEqual([3, 4]);
  const logged = await sql<
    { number: number }[]
  >`select number from agent_publishes where owner_id = ${owner} order by 1`;
  expect(logged.map(({ number }) => number)).toEqual([3, 4]);
});

test("results of tests never keep an agent from being changed: the oldest runs that have ended make room", async () => {
  const { agents, clock, sql } = service;
  const owner = newOwner();
  const agent = await create(agents, creation(owner));
  const now = clock.now();
  for (const [at, endedAt] of [null, now, now].entries()) {
    const run = { owner_id: owner, run_id: `run_${at}`, agent_id: agent.agentId, is_replay: false, agent_version: 1 };
    // Too new for the sweep of old runs.
    const createdAt = new Date(now.getTime() + at);
    const state = { version_hash: "", status: "PASSED", created_by: "", created_at: createdAt, ended_at: endedAt };
    await sql`insert into test_runs ${sql({ ...run, ...state })}`;
    await sql`
      insert into test_attempts (owner_id, run_id, place, test_id, attempt, name, required, definition, status, outcome, pass_at_least)
      values (${owner}, ${run.run_id}, 0, '', 1, '', false, '{}', 'PASSED', json_build_object('error', repeat('x', 8000)), 1)`;
  }
  expect(await change(agents, agent, tips(LONG))).toMatchObject({ agentVersion: 2 });
  const left = await sql<{ id: string }[]>`select run_id as id from test_attempts where owner_id = ${owner} order by 1`;
  expect(left.map(({ id }) => id)).toEqual(["run_0", "run_2"]);
});

test("versions that were never published make room after 30 days too, and not before", async () => {
  const { agents, clock, sql } = service;
  const owner = newOwner();
  const agent = await create(agents, creation(owner, { agentTips: LONG }));
  const rename = (agentName: string) => change(agents, agent, { agentName, publishing: Publishing.PUBLISHING_MANUAL });
  for (const name of ["Second", "Third"]) await rename(name);
  expect(await failure(rename("Fourth"))).toMatchObject(FULL);
  clock.advance(31 * 24 * 60 * 60_000);
  await rename("Fourth");
  const kept = await sql<{ version: number }[]>`
    select agent_version as version from agent_versions where owner_id = ${owner} order by 1`;
  expect(kept.map(({ version }) => version)).toEqual([1, 4]);
});

test("a change that is stored is answered, though there is no room for another agent to follow its prompt", async () => {
  const { agents, sql } = service;
  const owner = newOwner();
  const agent = await create(agents, creation(owner, { prompt: inline("Be brief.") }));
  await create(agents, creation(owner, { agentTips: LONG, prompt: byName(`agent-${agent.agentId}`) }));
  const [stored] = await sql<{ bytes: number }[]>`select bytes::integer from stored_bytes where owner_id = ${owner}`;
  const description = "x".repeat(BYTES_MAX - (stored?.bytes ?? 0) - 6_500);
  await createTool(agents, owner, { ...clientTool("fills"), description });
  const changed = await change(agents, agent, { prompt: inline("Be long.") });
  expect(changed).toMatchObject({ agentVersion: 2, prompt: { promptContent: "Be long." } });
});

test("agents that are created at the same time do not exceed the limit together", async () => {
  const owner = newOwner();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => create(service.agents, creation(owner, { agentTips: LONG }))),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("changes with ever new idempotency keys are refused when their responses fill the owner's room; one without a key is not", async () => {
  const { agents, sql } = service;
  const owner = newOwner();
  const agent = await create(agents, creation(owner, { agentTips: LONG }));
  const rename = (agentName: string, key: string) =>
    agents.updateAgent({ ...update(agent, { agentName }), idempotency: { key, fingerprint: Buffer.alloc(32) } });
  await rename("First", "1");
  const [sum] = await sql<{ bytes: number }[]>`
    select bytes::integer from idempotency_bytes where owner_id = ${owner}`;
  expect(sum?.bytes).toBeGreaterThan(8_000);
  await sql`update idempotency_bytes set bytes = ${1024 ** 3 - 8_000} where owner_id = ${owner}`;
  expect(await failure(rename("Second", "2"))).toMatchObject({ kind: "rate_limited" });
  expect((await read(agents, agent)).agentName).toBe("First");
  expect((await rename("First", "1")).agent?.agentName).toBe("First");
  expect((await change(agents, agent, { agentName: "Third" })).agentName).toBe("Third");
});
