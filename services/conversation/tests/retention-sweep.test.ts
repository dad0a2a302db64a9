import { afterAll, expect, test } from "bun:test";
import { openDatabase, type Sql } from "@parley/shared/db/database";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { makeDue, tellWorkers } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import { startFakeDispatcher } from "./fake-dispatcher.ts";
import { type ChatClient, chatClient } from "./kit.ts";
import { request } from "./lists-kit.ts";

const JOB = "delete-expired-conversations";
const FORGET = "forget-conversations";
const EXPIRED = 1_500;
const TIMEOUT_MS = 120_000;

const started: ServiceProcess[] = [];
const clients: ChatClient[] = [];
const [database, dispatcher] = await Promise.all([createTestDatabase(), startFakeDispatcher()]);
const db = openDatabase({ url: database.urls.conversation, name: "test" });
afterAll(async () => {
  for (const client of clients) client.close();
  await Promise.all(started.map((process) => process.stop()));
  await Promise.all([db.end(), dispatcher.stop()]);
  await database.drop();
});

async function start(): Promise<{ process: ServiceProcess; chat: ChatClient }> {
  const process = await startServiceProcess("conversation", {
    DATABASE_URL: database.urls.conversation,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
    PARLEY_WEBHOOK_ADDRESS: dispatcher.address,
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
  });
  const chat = chatClient(process.address);
  started.push(process);
  clients.push(chat);
  return { process, chat };
}

/**
 * Ended conversations of two messages. The first is this many days old, and each other is a minute younger than the one before.
 * @param sql a transaction unless no sweep can run: one that the test before has woken would delete them half made
 */
async function seed(sql: Sql, ownerId: string, count: number, days: number): Promise<void> {
  await sql`
    with begun as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, message_count, last_activity_at, created_at, updated_at)
      select ${ownerId}, gen_random_uuid(), 'cnv_' || n, 'agt_' || n % 3, 'CHAT', 'COMPLETED', 2, at, at, at
      from generate_series(0, ${count - 1}::integer) as n
        cross join lateral (select now() - ${days}::integer * interval '24 hours' + n * interval '1 minute') as began (at)
      returning conversation_id, created_at
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${ownerId}, conversation_id, seq, 'user', 'About zebras', created_at from begun, generate_series(1, 2) as seq`;
  await sql`
    insert into tool_calls (owner_id, conversation_id, tool_call_id, seq, round, place, kind, name, arguments, state)
    select ${ownerId}, conversation_id, 'tcl_1', 2, 1, 0, 'http', 'look_up', '{}', 'RUNNING' from conversations where owner_id = ${ownerId}
    on conflict do nothing`;
  // As if their webhooks had been sent long ago.
  await sql`delete from owner_events where owner_id = ${ownerId}`;
}

async function rows(ownerId: string) {
  const [row] = await db<[{ conversations: number; messages: number; called: number; counted: number; used: number }]>`
    select (select count(*) from conversations where owner_id = ${ownerId})::integer as conversations,
      (select count(*) from messages where owner_id = ${ownerId})::integer as messages,
      (select count(*) from tool_calls where owner_id = ${ownerId})::integer as called,
      (select coalesce(sum(total), 0) from conversation_counts where owner_id = ${ownerId} and agent_id = '' and span = 1)::integer
        + (select coalesce(sum(change), 0) from conversation_changes where owner_id = ${ownerId})::integer as counted,
      (select coalesce(sum(conversations), 0) from usage_days where owner_id = ${ownerId})::integer as used`;
  return row;
}

async function idsOf(sql: Sql, ownerId: string): Promise<string[]> {
  const found = await sql<{ conversationId: string }[]>`
    select conversation_id from conversations where owner_id = ${ownerId}`;
  return found.map(({ conversationId }) => conversationId);
}

/** Wakes the sweep like a request for its job, so that a run that is just ending does not postpone it. */
async function sweep(): Promise<void> {
  await makeDue(db, JOB);
}

/**
 * Sweeps until a check holds: a sweep skips what another transaction holds, such as one that indexes, and deletes it the
 * next time.
 */
function sweptUntil(check: () => Promise<unknown>): Promise<unknown> {
  return eventually(async () => {
    await sweep();
    await check();
  });
}

/** Advances the clock by a minute, after which the dispatcher is told. */
async function forget(ownerId: string): Promise<void> {
  await db`update jobs set due_at = '2000-01-01' where queue = ${FORGET} and owner_id = ${ownerId}`;
  await tellWorkers(db);
}

async function forgottenOf(ownerId: string, ids: readonly string[]): Promise<void> {
  await eventually(async () => {
    await forget(ownerId);
    const told = dispatcher.forgotten.filter((request) => request.ownerId === ownerId);
    expect(new Set(told.flatMap(({ conversationIds }) => conversationIds))).toEqual(new Set(ids));
  });
}

test(
  "another process finishes a killed sweep; in the meantime lists do not wait and counts are exact",
  async () => {
    const [one, other, keeper] = [newOwner(), newOwner(), newOwner()];
    const first = await start();
    await eventually(async () => {
      const [job] = await db`select 1 from jobs where job_id = ${JOB} and leased_until is null and due_at > now()`;
      expect(job).toBeDefined();
    });
    await seed(db, one, EXPIRED, 100);
    await seed(db, one, 10, 89);
    await seed(db, other, 5, 100);
    await seed(db, keeper, 20, 100);
    await db`insert into owner_settings (owner_id, retention_days, revision) values (${keeper}, 101, 1)`;

    // Locks a message of an expired conversation, so that the sweep waits in the middle of its transaction.
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = db.begin(async (tx) => {
      await tx`
        select 1 from messages where seq = 1 and conversation_id = (
          select conversation_id from conversations where owner_id = ${one} order by created_at offset 700 limit 1
        ) for update`;
      held.resolve();
      await release.promise;
    });
    await held.promise;
    await sweep();
    const stuck = await eventually(async () => {
      const waiting = await db<{ query: string; pid: number }[]>`
        select query, pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      expect(waiting).toHaveLength(1);
      return waiting[0];
    });
    expect(stuck?.query).toContain("delete from messages");
    const half = await rows(one);
    expect(half.conversations).toBeLessThan(EXPIRED);
    expect(half).toEqual({
      conversations: half.conversations,
      messages: 2 * half.conversations,
      called: half.conversations,
      counted: half.conversations,
      used: EXPIRED + 10,
    });

    const second = await start();
    const totals = async () => [
      (await second.chat.listConversations(request(one, {}))).total,
      (await second.chat.listConversations(request(one, { search: "zebra" }))).total,
      (await second.chat.listChatSessions({ ownerId: one, agentId: "", page: { number: 1, size: 100 } })).sessions
        .length,
      (await second.chat.listConversations(request(other, {}))).total,
      (await second.chat.listConversations(request(keeper, {}))).total,
    ];
    // The sweep's transaction waits all this time.
    expect(await totals()).toEqual([10, 10, 10, 0, 20]);
    const waiting =
      await db`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    expect(waiting).toHaveLength(1);

    await first.process.stop("SIGKILL");
    release.resolve();
    await holding;
    // As if the dead process's lease had ended.
    await db`update jobs set leased_until = null where job_id = ${JOB}`;
    await makeDue(db, JOB);
    await sweptUntil(async () => {
      expect(await rows(one)).toEqual({ conversations: 10, messages: 20, called: 10, counted: 10, used: EXPIRED + 10 });
      expect(await rows(other)).toEqual({ conversations: 0, messages: 0, called: 0, counted: 0, used: 5 });
    });
    expect(await rows(keeper)).toEqual({ conversations: 20, messages: 40, called: 20, counted: 20, used: 20 });
    expect(await totals()).toEqual([10, 10, 10, 0, 20]);
  },
  TIMEOUT_MS,
);

test("a conversation is deleted while the webhook dispatcher is down, which forgets it once it is back", async () => {
  const ownerId = newOwner();
  const ids = await db.begin(async (tx) => {
    await seed(tx, ownerId, 2, 100);
    return idsOf(tx, ownerId);
  });
  await dispatcher.stop();
  await sweptUntil(async () => expect(await rows(ownerId)).toMatchObject({ conversations: 0, messages: 0 }));
  await forget(ownerId);
  await eventually(async () => {
    const [job] = await db`select attempts from jobs where queue = ${FORGET} and owner_id = ${ownerId}`;
    expect(job?.attempts).toBeGreaterThan(0);
  });
  await dispatcher.start();
  await forgottenOf(ownerId, ids);
});

test("a conversation with an unsent webhook event is kept, hidden, for at most half a day", async () => {
  const [ownerId, longAgo] = [newOwner(), newOwner()];
  const ids = await db.begin(async (tx) => {
    for (const owner of [ownerId, longAgo]) {
      await seed(tx, owner, 1, 100);
      await seed(tx, owner, 1, 100);
      await tx`
        insert into owner_events (owner_id, conversation_id, event, happened_at, due_at, payload)
        select owner_id, conversation_id, 'conversation.completed', now(), now() + interval '1 hour', '{}'
        from conversations where owner_id = ${owner} limit 1`;
    }
    await tx`insert into owner_settings (owner_id, retention_days, revision) values (${ownerId}, 100, 1)`;
    return idsOf(tx, longAgo);
  });
  await sweptUntil(async () => {
    expect((await rows(ownerId)).conversations).toBe(1);
    expect((await rows(longAgo)).conversations).toBe(0);
  });
  expect((await clients.at(-1)?.listConversations(request(ownerId, {})))?.total).toBe(0);
  expect(await db`select 1 from owner_events where owner_id = ${longAgo}`).toHaveLength(0);
  await forgottenOf(longAgo, ids);

  const [waiting = ""] = await idsOf(db, ownerId);
  expect(dispatcher.forgotten.flatMap(({ conversationIds }) => conversationIds)).not.toContain(waiting);
  await db`delete from owner_events where owner_id = ${ownerId}`;
  await sweptUntil(async () => expect((await rows(ownerId)).conversations).toBe(0));
});

test("idempotency keys of turns are swept a day after their request", async () => {
  const ownerId = newOwner();
  await db`
    insert into turn_keys (owner_id, idempotency_key, fingerprint, created_at)
    select ${ownerId}, 'k' || n, '', now() - n * interval '1 hour' from generate_series(1, 48) as n`;
  await makeDue(db, "delete-expired-keys");
  await eventually(async () => {
    const [row] = await db`select count(*)::integer as left from turn_keys where owner_id = ${ownerId}`;
    expect(row?.left).toBe(23);
  });
});
