import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Database } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import { randomOf, sentencePool } from "./corpus.ts";
import { moments, seededRows } from "./rows.ts";

export interface SeededOwner {
  ownerId: string;
  conversations: number;
}

/** One in this many conversations, the newest ones, is still open. */
const OPEN_SHARE = 1_000;
const CHUNK = 1 << 20;

/**
 * Fills the service's tables by COPY, with triggers off and indexes rebuilt at the end, and has the service count and index them.
 * @param end when the newest conversations began
 */
export async function seedOwners(db: Database, owners: readonly SeededOwner[], end: Date): Promise<void> {
  const indexes = await db<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = current_schema() and tablename in ('conversations', 'messages') and indexname not like '%pkey'`;
  for (const { name } of indexes) await db`drop index ${db(name)}`;
  await db`alter table conversations disable trigger user`;
  for (const owner of owners) await timed(`${owner.conversations} conversations`, () => seedOwner(db, owner, end));
  await db`alter table conversations enable trigger user`;
  for (const { name, definition } of indexes) await timed(`index ${name}`, () => db.unsafe(definition));
  for (const { ownerId } of owners) await takeIn(db, ownerId);
  await timed("vacuum analyze", () => db`vacuum analyze`);
}

/** Has the service count and index an owner's conversations, which came in past the triggers. */
async function takeIn(db: Database, ownerId: string): Promise<void> {
  await db.begin(async (tx) => {
    await tx`
      insert into conversation_changes
        (owner_id, agent_id, type, calling_type, status, is_test, day, minute, change, agent_version)
      select owner_id, agent_id, type, coalesce(calling_type, ''), status, is_test_call,
        minute_since_1970(created_at) / 1440, minute_since_1970(created_at) % 1440, 1, agent_version
      from conversations where owner_id = ${ownerId}`;
    await tx`
      insert into search_waiting (owner_id, conversation_id)
      select owner_id, conversation_id from conversations where owner_id = ${ownerId}`;
    for (const queue of ["fold-conversation-counts", "index-conversations"])
      await enqueueJob(tx, { ownerId, jobId: queue, queue, payload: {}, dueAt: new Date() });
  });
}

async function timed(what: string, work: () => PromiseLike<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  console.log(`  ${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

/** Oldest conversations first, as in reality. */
async function seedOwner(db: Database, { ownerId, conversations }: SeededOwner, end: Date): Promise<void> {
  const random = randomOf(conversations);
  const pool = sentencePool(random);
  const copyConversations = await copyInto(
    db,
    `conversations (owner_id, conversation_id, id, agent_id, type, status, calling_type, name, message_count, metadata,
      variables, created_by, to_mobile_number, from_mobile_number, last_activity_at, created_at, updated_at)`,
  );
  const copyMessages = await copyInto(db, "messages (owner_id, conversation_id, seq, role, content, created_at)");
  let left = conversations;
  for (const at of moments(random, conversations, end)) {
    const isOpen = left-- <= conversations / OPEN_SHARE;
    const rows = seededRows(random, pool, ownerId, at, isOpen);
    await copyConversations.write(rows.conversation);
    await copyMessages.write(rows.messages);
  }
  await Promise.all([copyConversations.end(), copyMessages.end()]);
}

/** Copies lines into a table, in large pieces and no faster than the server accepts them. */
async function copyInto(db: Database, target: string) {
  const stream: Writable = await db.unsafe(`copy ${target} from stdin`).writable();
  let waiting = "";
  const flush = async () => {
    const accepted = stream.write(waiting);
    waiting = "";
    if (!accepted) await once(stream, "drain");
  };
  return {
    write: async (lines: string) => {
      waiting += lines;
      if (waiting.length > CHUNK) await flush();
    },
    end: async () => {
      await flush();
      stream.end();
      await once(stream, "finish");
    },
  };
}
