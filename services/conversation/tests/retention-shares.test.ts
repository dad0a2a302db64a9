import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { silentLogger } from "@parley/shared/log";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { expiredConversations } from "../src/retention/retention.ts";

// What an owner with much to delete may take from other owners. No service runs, whose own sweeps would delete too.

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.conversation, name: "test" });
const clock = fakeClock();
afterAll(async () => {
  await db.end();
  await database.drop();
});

const DAY_MS = 24 * 60 * 60_000;

/** Ended conversations past retention, whose events were sent. @param messages of each */
async function seed(ownerId: string, count: number, messages = 1): Promise<void> {
  const at = new Date(clock.now().getTime() - 100 * DAY_MS);
  await db`
    with begun as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, message_count, last_activity_at, created_at, updated_at)
      select ${ownerId}, gen_random_uuid(), 'cnv_' || n, 'agt_1', 'CHAT', 'COMPLETED', ${messages}, ${at}, ${at}, ${at}
      from generate_series(1, ${count}::integer) as n
      returning conversation_id
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${ownerId}, conversation_id, seq, 'user', 'Hi', ${at} from begun, generate_series(1, ${messages}::integer) as seq`;
  await db`delete from owner_events where owner_id = ${ownerId}`;
}

function sweep(): Promise<void> {
  return expiredConversations({ db }, silentLogger).run(clock.now(), new AbortController().signal);
}

async function left(ownerId: string): Promise<{ conversations: number; messages: number }> {
  const [row] = await db<[{ conversations: number; messages: number }]>`
    select (select count(*) from conversations where owner_id = ${ownerId})::integer as conversations,
      (select count(*) from messages where owner_id = ${ownerId})::integer as messages`;
  return row;
}

const NOTHING = { conversations: 0, messages: 0 };

/** An owner whose turn comes before another's, and that one. */
function twoOwners(): [string, string] {
  return [newOwner(), newOwner()].sort() as [string, string];
}

test("an owner with many expired conversations has one batch deleted before another owner's turn", async () => {
  const [many, few] = twoOwners();
  await seed(many, 900);
  await seed(few, 5);
  await sweep();
  expect(await left(many)).toEqual(NOTHING);
  expect(await left(few)).toEqual(NOTHING);
  const [row] = await db`
    select count(*)::integer as before from conversation_changes
    where owner_id = ${many} and change = -1 and change_id < (
      select min(change_id) from conversation_changes where owner_id = ${few} and change = -1
    )`;
  expect(row?.before).toBe(200);
});

test("an owner whose conversations cannot be deleted does not block another's deletion", async () => {
  const [stuck, other] = twoOwners();
  await seed(stuck, 3);
  await seed(other, 3);
  await db.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before delete on conversations for each row when (old.owner_id = '${stuck}') execute function refuse()`);
  expect(await sweep().catch(String)).toContain("refused");
  await db`drop function refuse cascade`;
  expect(await left(other)).toEqual(NOTHING);
  expect(await left(stuck)).toEqual({ conversations: 3, messages: 3 });
});

test("however many messages conversations have, no transaction deletes more than 10,000", async () => {
  const [ownerId] = twoOwners();
  await seed(ownerId, 1, 25_000);
  await seed(ownerId, 30, 1_000);
  await db.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin
      if (select count(*) > 10000 from gone) then raise 'too many'; end if;
      return null;
    end $$;
    create trigger refuse after delete on messages referencing old table as gone for each statement execute function refuse()`);
  await sweep();
  await db`drop function refuse cascade`;
  expect(await left(ownerId)).toEqual(NOTHING);
});
