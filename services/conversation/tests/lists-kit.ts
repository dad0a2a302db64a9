import {
  CallingType,
  ConversationStatus,
  ConversationType,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ListConversationsRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { newId, newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase } from "@parley/testkit/database";
import { readConversationConfig } from "../src/config.ts";
import { startConversation } from "../src/service.ts";
import { type ChatClient, chatClient } from "./kit.ts";

export interface TestLists {
  lists: ChatClient;
  /** The database as the service's own role. */
  db: Database;
  /** The URL of the superuser. */
  adminUrl: string;
  clock: FakeClock;
  stop(): Promise<void>;
}

/** The service alone: lists ask no other. */
export async function startTestLists(): Promise<TestLists> {
  const database = await createTestDatabase();
  const url = database.urls.conversation;
  const config = readConversationConfig({
    DATABASE_URL: url,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
    PARLEY_WEBHOOK_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
  });
  const clock = fakeClock();
  const running = await startConversation(config, silentLogger, clock);
  const lists = chatClient(running.address);
  const db = openDatabase({ url, name: "test" });
  return {
    lists,
    db,
    adminUrl: database.adminUrl,
    clock,
    stop: async () => {
      lists.close();
      await running.stop();
      await db.end();
      await database.drop();
    },
  };
}

export const TYPES = ["CHAT", "TELEPHONY", "WHATSAPP", "DAILY", "WEB"] as const;
export const STATUSES = ["IN_PROGRESS", "COMPLETED", "DISCONNECTED", "FAILED"] as const;
export const CALLING_TYPES = ["INBOUND", "OUTBOUND"] as const;
export const AGENTS = ["agt_a", "agt_b", "agt_c"] as const;

export interface Stored {
  ownerId: string;
  conversationId: string;
  agentId: string;
  agentVersion: number | null;
  type: (typeof TYPES)[number];
  callingType: (typeof CALLING_TYPES)[number] | null;
  status: (typeof STATUSES)[number];
  isTest: boolean;
  createdAt: Date;
  metadata: Record<string, unknown>;
  variables: Record<string, unknown>;
  toMobileNumber: string | null;
  roomUrl: string | null;
  roomName: string | null;
  messages: string[];
}

export function stored(given: Partial<Stored> & { ownerId: string }): Stored {
  return {
    conversationId: newUuid(),
    agentId: "agt_a",
    agentVersion: 1,
    type: "CHAT",
    callingType: null,
    status: "COMPLETED",
    isTest: false,
    createdAt: new Date("2026-01-01T12:00:00Z"),
    metadata: {},
    variables: {},
    toMobileNumber: null,
    roomUrl: null,
    roomName: null,
    messages: [],
    ...given,
  };
}

/** As the channels leave them: nothing is said after the end. */
export async function insert(db: Database, conversations: readonly Stored[]): Promise<void> {
  const messages = conversations.flatMap((row) =>
    row.messages.map((content, at) => ({ row: row.conversationId, seq: at + 1, content })),
  );
  await db.begin(async (tx) => {
    await tx`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, is_test_call, calling_type, metadata, variables,
        to_mobile_number, room_url, room_name, message_count, last_activity_at, created_at, updated_at, agent_version)
      select owner_id, conversation_id, id, agent_id, type, status, is_test::boolean, calling_type, metadata::jsonb, variables::jsonb,
        to_mobile_number, room_url, room_name, message_count, created_at, created_at, created_at, agent_version
      from unnest(${conversations.map((row) => row.ownerId)}::text[], ${conversations.map((row) => row.conversationId)}::uuid[],
        ${conversations.map(() => newId("cnv"))}::text[], ${conversations.map((row) => row.agentId)}::text[],
        ${conversations.map((row) => row.type)}::text[], ${conversations.map((row) => row.status)}::text[],
        ${conversations.map((row) => String(row.isTest))}::text[],
        ${conversations.map((row) => row.callingType)}::text[],
        ${conversations.map((row) => JSON.stringify(row.metadata))}::text[],
        ${conversations.map((row) => JSON.stringify(row.variables))}::text[],
        ${conversations.map((row) => row.toMobileNumber)}::text[],
        ${conversations.map((row) => row.roomUrl)}::text[], ${conversations.map((row) => row.roomName)}::text[],
        ${conversations.map((row) => row.messages.length)}::integer[],
        ${conversations.map((row) => row.createdAt.toISOString())}::timestamptz[],
        ${conversations.map((row) => row.agentVersion)}::integer[])
        as given (owner_id, conversation_id, id, agent_id, type, status, is_test, calling_type, metadata, variables, to_mobile_number,
          room_url, room_name, message_count, created_at, agent_version)`;
    await tx`
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select owner_id, conversation_id, said.seq, 'user', said.content, created_at
      from unnest(${messages.map((message) => message.row)}::uuid[], ${messages.map((message) => message.seq)}::integer[],
        ${messages.map((message) => message.content)}::text[]) as said (conversation_id, seq, content)
        join conversations using (conversation_id)`;
  });
}

/** What a request may ask for, in the words of the tables. */
export interface Asked {
  search?: string;
  agentId?: string;
  /** Only with `agentId`. */
  agentVersion?: number;
  type?: Stored["type"];
  callingType?: (typeof CALLING_TYPES)[number];
  status?: Stored["status"];
  isTest?: boolean;
  from?: Date;
  to?: Date;
  timeOfDay?: { fromMinute: number; toMinute: number };
}

export function request(ownerId: string, asked: Asked, page = { number: 1, size: 10 }): ListConversationsRequest {
  return ListConversationsRequest.fromPartial({
    ownerId,
    page,
    search: asked.search ?? "",
    agentId: asked.agentId ?? "",
    agentVersion: asked.agentVersion,
    type: asked.type ? ConversationType[`CONVERSATION_TYPE_${asked.type}`] : 0,
    callingType: asked.callingType ? CallingType[`CALLING_TYPE_${asked.callingType}`] : 0,
    status: asked.status ? ConversationStatus[`CONVERSATION_STATUS_${asked.status}`] : 0,
    ...(asked.isTest !== undefined && { isTestCall: asked.isTest }),
    ...(asked.from && { from: asked.from }),
    ...(asked.to && { to: asked.to }),
    ...(asked.timeOfDay && { timeOfDay: asked.timeOfDay }),
  });
}

/** The specification in its plainest form: looks at every conversation, newest first. */
export function expected(all: readonly Stored[], ownerId: string, asked: Asked): string[] {
  const minuteOf = (at: Date) => at.getUTCHours() * 60 + at.getUTCMinutes();
  const inWindow = (minute: number, { fromMinute, toMinute }: { fromMinute: number; toMinute: number }) =>
    fromMinute <= toMinute ? minute >= fromMinute && minute <= toMinute : minute >= fromMinute || minute <= toMinute;
  const wanted = asked.search?.toLowerCase();
  return all
    .filter((row) => row.ownerId === ownerId)
    .filter((row) => !asked.agentId || row.agentId === asked.agentId)
    .filter((row) => !asked.agentVersion || row.agentVersion === asked.agentVersion)
    .filter((row) => !asked.type || row.type === asked.type)
    .filter((row) => !asked.callingType || row.callingType === asked.callingType)
    .filter((row) => !asked.status || row.status === asked.status)
    .filter((row) => asked.isTest === undefined || row.isTest === asked.isTest)
    .filter((row) => !asked.from || row.createdAt >= asked.from)
    .filter((row) => !asked.to || row.createdAt <= asked.to)
    .filter((row) => !asked.timeOfDay || inWindow(minuteOf(row.createdAt), asked.timeOfDay))
    .filter((row) => !wanted || textsOf(row).some((text) => text.includes(wanted)))
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.conversationId < b.conversationId ? 1 : -1))
    .map((row) => row.conversationId);
}

/** Kept while nothing is added to a row, because hundreds of requests look at thousands of rows. */
const keptTexts = new WeakMap<Stored, { messages: number; texts: readonly string[] }>();

/** What a search looks through, in lower case. */
function textsOf(row: Stored): readonly string[] {
  const { messages, metadata, variables, toMobileNumber, roomUrl, roomName } = row;
  const kept = keptTexts.get(row);
  if (kept?.messages === messages.length) return kept.texts;
  const all = [...messages, ...values([metadata, variables, toMobileNumber, roomUrl, roomName])];
  const texts = all.map((text) => text.toLowerCase());
  keptTexts.set(row, { messages: messages.length, texts });
  return texts;
}

function values(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  return typeof value === "object" ? Object.values(value).flatMap(values) : [String(value)];
}
