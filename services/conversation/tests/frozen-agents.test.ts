import { afterAll, expect, test } from "bun:test";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { createAgent, say, startFurtherChat, startTestChat, turn } from "./kit.ts";
import { request } from "./lists-kit.ts";

const POOL = 3;
/** Each twice: more than the connections of the process, those for long-running work included. */
const TURNS = 6;

/** The agents that were requested, and the promise that releases the answers. */
const asked: string[] = [];
const thawed = Promise.withResolvers<void>();

/** A process with few connections, and between it and the agent service one that stalls. */
const service = await startTestChat();
const standIn = await serve(
  AgentServiceService,
  {
    batchGetPointers: service.agents.batchGetPointers,
    batchGetAgentRuntimes: async (given) => {
      asked.push(...given.keys.map(({ agentId }) => agentId));
      await thawed.promise;
      return service.agents.batchGetAgentRuntimes(given);
    },
  },
  { address: "127.0.0.1:0", log: silentLogger, drainMs: 0 },
);
const env = { PARLEY_AGENT_ADDRESS: standIn.address, PARLEY_DATABASE_POOL: String(POOL) };
const further = await startFurtherChat(service, env);
afterAll(async () => {
  await further.stop();
  await standIn.stop();
  await service.stop();
});

test("while the agent service hangs, keyed turns hold no connection and another owner's reads continue", async () => {
  const agents = await Promise.all(Array.from({ length: TURNS }, () => createAgent(service)));
  const other = await createAgent(service);
  const { sessionId } = await say(service, other, "Hi");
  let ended = 0;
  const ending = () => {
    ended++;
  };
  // Each key twice: both requests prepare at the same time, and one of them runs the turn.
  const turns = [...agents, ...agents].map((agent) => {
    const idempotency = { key: "same", fingerprint: Buffer.alloc(32) };
    return further.chat.completeTurn({ turn: turn(agent, "Hello?", { idempotency }) });
  });
  for (const each of turns) each.then(ending, ending);
  await eventually(() => expect(new Set(asked).size).toBe(TURNS));
  const { ownerId } = other;
  expect(
    (await further.chat.getConversation({ ownerId, conversationId: sessionId })).conversation?.conversationId,
  ).toBe(sessionId);
  expect((await further.chat.listConversations(request(ownerId, {}))).total).toBe(1);
  expect(await further.chat.setOwnerSettings({ ownerId, retentionDays: 30, revision: 1 })).toEqual({});
  expect(ended).toBe(0);
  thawed.resolve();
  const answers = await Promise.all(turns);
  for (const at of agents.keys()) {
    const [one, again] = [answers[at], answers[at + TURNS]];
    expect([one?.sessionId, one?.response]).toEqual([again?.sessionId, again?.response]);
    expect([one?.replayed, again?.replayed].toSorted()).toEqual([false, true]);
  }
  const [row] = await service.sql`
    select count(*)::integer as sessions from conversations where owner_id = any(${agents.map((agent) => agent.ownerId)})`;
  expect(row?.sessions).toBe(TURNS);
});
