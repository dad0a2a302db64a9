import { expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { MIGRATIONS } from "../src/migrations.ts";
import { listUsage } from "../src/store/usage.ts";

/** The first migration after release 0.1.0. */
const LATER = MIGRATIONS.findIndex(({ name }) => name === "0009_jobs_in_turn");
/** What docs/scaling.md of release 0.1.0 says, with one partition. */
const PARTITION = `
  alter table messages rename to messages_before;
  create table messages (like messages_before including all) partition by range (conversation_id);
  drop trigger messages_used on messages_before;
  create trigger messages_used after insert on messages
    for each row when (new.provider is not null) execute function count_reply();
  alter table messages attach partition messages_before default`;

test("messages that were partitioned under release 0.1.0 are migrated, and their replies are counted once", async () => {
  const database = await createTestDatabase(EMPTY_TEMPLATE);
  const db = openDatabase({ url: database.urls.conversation, name: "test", max: 1 });
  const reply = async () => {
    const conversationId = Bun.randomUUIDv7();
    await db`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      values ('own_1', ${conversationId}, ${conversationId}, 'agt_1', 'CHAT', 'IN_PROGRESS', now(), '2026-01-01Z', now())`;
    await db`
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, provider, model, input_tokens, output_tokens)
      values ('own_1', ${conversationId}, 1, 'assistant', 'Hello', '2026-01-01Z', 'OPENAI', 'gpt', 5, 7)`;
  };
  const storedBytes = async () => (await db`select sum(bytes)::integer as bytes from stored_changes`)[0]?.bytes;
  const used = async () => (await listUsage(db, "own_1", "2026-01-01", "2026-01-01"))[0];
  try {
    await migrate(db, MIGRATIONS.slice(0, LATER));
    await reply();
    await db.begin((tx) => tx.unsafe(PARTITION));
    await reply();
    await migrate(db, MIGRATIONS);
    expect(await used()).toMatchObject({ conversations: 2, replies: 2, inputTokens: 10, outputTokens: 14 });
    await reply();
    expect(await storedBytes()).toBe(1_000 + 2 * "{}".length + 500 + "Hello".length);
    await db`delete from messages`;
    await db`delete from conversations`;
    expect(await storedBytes()).toBe(-2 * (1_000 + 2 * "{}".length + 500 + "Hello".length));
    expect(await used()).toMatchObject({ conversations: 3, replies: 3, inputTokens: 15, outputTokens: 21 });
    /** Those for each row, which is bit 0: those for each statement are of the table that it names. */
    const triggers = (table: string) => db`
      select tgname from pg_trigger
      where tgrelid = ${table}::regclass and not tgisinternal and tgtype & 1 = 1 order by tgname`;
    expect([...(await triggers("messages_before"))]).toEqual([...(await triggers("messages"))]);
  } finally {
    await db.end();
    await database.drop();
  }
});
