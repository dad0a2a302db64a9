import { afterAll, expect, test } from "bun:test";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { createClient } from "@parley/shared/rpc/client";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { makeDue, tellWorkers } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import { type ModelCall, startScriptedModel } from "@parley/testkit/scripted-model";
import { sharedAgents } from "@parley/testkit/shared-agents";
import postgres from "postgres";
import { startFakeDispatcher } from "./fake-dispatcher.ts";
import { type ChatClient, chatClient, createAgent, failure, say } from "./kit.ts";

// Replicas on hosts with wrong clocks, beside one with a right clock.

const HOUR_MS = 60 * 60_000;
const TIMEOUT_MS = 120_000;

interface Replica {
  process: ServiceProcess;
  chat: ChatClient;
}

const [database, model, dispatcher] = await Promise.all([
  createTestDatabase(),
  startScriptedModel(),
  startFakeDispatcher(),
]);
const sql = postgres(database.urls.conversation, { max: 1, onnotice: () => {} });
const agents = createClient(AgentServiceService, { peer: "agent", address: sharedAgents().agentAddress });
let replicas: { right: Replica; ahead: Replica; behind: Replica } = {
  right: await start(0),
  ahead: await start(HOUR_MS),
  behind: await start(-HOUR_MS),
};
const agent = await createAgent({ agents, model });

afterAll(async () => {
  for (const { chat } of Object.values(replicas)) chat.close();
  agents.close();
  await Promise.all(Object.values(replicas).map(({ process }) => process.stop()));
  await Promise.all([dispatcher.stop(), model.stop(), sql.end()]);
  await database.drop();
}, TIMEOUT_MS);

async function start(wrongByMs: number): Promise<Replica> {
  const process = await startServiceProcess("conversation", {
    DATABASE_URL: database.urls.conversation,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: sharedAgents().agentAddress,
    PARLEY_WEBHOOK_ADDRESS: dispatcher.address,
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
    BUN_OPTIONS: `--preload ${import.meta.dirname}/wrong-date.ts`,
    WRONG_BY_MS: String(wrongByMs),
  });
  return { process, chat: chatClient(process.address) };
}

async function sessionInTurn(): Promise<string> {
  return eventually(async () => {
    const [row] = await sql<{ id: string }[]>`
      select conversation_id as id from conversations where owner_id = ${agent.ownerId} and turn_id is not null`;
    if (!row) throw new Error("no turn is under way");
    return row.id;
  });
}

for (const [held, other] of [
  ["right", "ahead"],
  ["behind", "right"],
] as const) {
  test(`a turn of the replica that is ${held} is not taken over by the one that is ${other}`, async () => {
    const asked = Promise.withResolvers<ModelCall>();
    model.script = asked.resolve;
    const answer = say(replicas[held], agent, "Take your time");
    const call = await asked.promise;
    model.script = (stolen) => stolen.finish("Stolen.");
    const sessionId = await sessionInTurn();
    expect(await failure(say(replicas[other], agent, "Me too", sessionId))).toMatchObject({ kind: "conflict" });
    call.finish("Done.");
    expect((await answer).response).toBe("Done.");
  });
}

test("replicas with wrong clocks do not take a job that another process runs", async () => {
  const ownerId = newOwner();
  const forget = (id: string, leasedUntil: string | null) =>
    sql`
    insert into jobs (owner_id, job_id, queue, payload, due_at, leased_until, lease)
    values (${ownerId}, ${id}, 'forget-conversations', ${sql.json({ conversationIds: [id] })}, now() - interval '1 minute',
      now() + ${leasedUntil}::interval, 1)`.then(() => tellWorkers(sql));
  await forget("leased", "10 minutes");
  // Each look-up for jobs finds one of these, so it would also find the leased one.
  for (let n = 0; n < 20; n++) {
    await forget(`free_${n}`, null);
    await eventually(async () => expect(await sql`select 1 from jobs where job_id = ${`free_${n}`}`).toHaveLength(0));
  }
  expect(await sql`select lease from jobs where owner_id = ${ownerId}`).toEqual([{ lease: "1" }] as never);
  await sql`delete from jobs where owner_id = ${ownerId}`;
});

test("a replica whose clock is over a day ahead of the database's deletes nothing, and one with the right clock does", async () => {
  const ownerId = newOwner();
  const left = async () => (await sql`select 1 from conversations where owner_id = ${ownerId}`).length;
  const sweep = () => makeDue(sql, "delete-expired-conversations");
  await Promise.all(Object.values(replicas).map(({ process }) => process.stop()));
  for (const { chat } of Object.values(replicas)) chat.close();
  const wrong = await start(36 * HOUR_MS);
  await sql`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      select ${ownerId}, gen_random_uuid(), 'cnv_' || days, 'agt_1', 'CHAT', 'COMPLETED', at, at, at
      from unnest(array[89, 100]) as days, lateral (select now() - days * interval '24 hours' as at) as began`;
  await sql`delete from owner_events where owner_id = ${ownerId}`;
  await sweep();
  await eventually(() => expect(wrong.process.output).toContain('"msg":"nothing is deleted'));
  expect(await left()).toBe(2);
  await wrong.process.stop();
  wrong.chat.close();
  replicas = { ...replicas, right: await start(0) };
  await sweep();
  await eventually(async () => expect(await left()).toBe(1));
});
