import { newId, newUuid } from "@parley/shared/ids";
import { createTestDatabase } from "@parley/testkit/database";
import { tellWorkers } from "@parley/testkit/jobs";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import postgres from "postgres";
import { type FakeDispatcher, startFakeDispatcher } from "./fake-dispatcher.ts";

export interface Alone {
  dispatcher: FakeDispatcher;
  sql: postgres.Sql;
  start(): Promise<ServiceProcess>;
  /** Ends the processes. */
  rest(): Promise<void>;
  stop(): Promise<void>;
}

/** Processes of the conversation service with a dispatcher and no other service. */
export async function startAlone(): Promise<Alone> {
  const [database, dispatcher] = await Promise.all([createTestDatabase(), startFakeDispatcher()]);
  const sql = postgres(database.urls.conversation, { max: 4, onnotice: () => {} });
  const running: ServiceProcess[] = [];
  const rest = async () => {
    await Promise.all(running.splice(0).map((process) => process.stop()));
  };
  return {
    dispatcher,
    sql,
    start: async () => {
      const process = await startServiceProcess("conversation", {
        DATABASE_URL: database.urls.conversation,
        PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
        PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
        PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
        PARLEY_WEBHOOK_ADDRESS: dispatcher.address,
        PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
        PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
      });
      running.push(process);
      return process;
    },
    rest,
    stop: async () => {
      await rest();
      await Promise.all([sql.end(), dispatcher.stop()]);
      await database.drop();
    },
  };
}

/** Open chats, each with a greeting and, when asked for, a user's message; their ids. */
export async function openChats(
  sql: postgres.Sql,
  ownerId: string,
  count: number,
  { said = false, at = new Date() } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, newUuid);
  await sql`
    insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
    select ${ownerId}, id, 'cnv_' || id, ${newId("agt")}, 'CHAT', 'IN_PROGRESS', ${at}, ${at}, ${at}
    from unnest(${ids}::uuid[]) as id`;
  await sql`
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${ownerId}, id, 1, ${said ? "user" : "assistant"}, 'Hello.', ${at} from unnest(${ids}::uuid[]) as id`;
  return ids;
}

/** Ends chats in any of the ways that chats end. @returns the number ended */
export async function endChats(
  sql: postgres.Sql | postgres.TransactionSql,
  conversationIds: readonly string[],
  at = new Date(),
): Promise<number> {
  const ended = await sql`
    update conversations set status = 'COMPLETED', updated_at = ${at}
    where conversation_id = any(${conversationIds as string[]}) and status = 'IN_PROGRESS'`;
  await tellWorkers(sql);
  return ended.count;
}
