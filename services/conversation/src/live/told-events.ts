import { AgentState, type WatchConversationsResponse } from "@parley/proto/parley/conversation/v1/live.ts";
import type { Sql } from "@parley/shared/db/database";
import { AGENT_STATES, ROLES, TRANSFER_STATES } from "@parley/shared/domain/api-names";
import { toConversation, toMessage, toToolCall } from "../convert.ts";
import { type ConversationRow, listConversationRows } from "../store/conversations.ts";
import { EVERYTHING, type LiveEventRow, type Topic } from "../store/live.ts";
import { listMessages, type MessageRow } from "../store/messages.ts";
import { listCallsById, type StoredToolCall } from "../store/turns/tool-calls.ts";
import { operatorState } from "./operator-state.ts";

type Event = NonNullable<WatchConversationsResponse["event"]>;

/** What the rows of events name. */
interface Named {
  messages: ReadonlyMap<number, MessageRow>;
  calls: ReadonlyMap<string, StoredToolCall>;
  conversations: ReadonlyMap<string, ConversationRow>;
}

/** Events of a topic as watchers get them. What was deleted since is left out. */
export async function toldEvents(
  sql: Sql,
  topic: Topic,
  rows: readonly LiveEventRow[],
): Promise<WatchConversationsResponse[]> {
  const named = await readNamed(sql, topic, rows);
  return rows.map((row) => ({ id: String(row.number), event: toldEvent(row, topic, named) }));
}

async function readNamed(sql: Sql, topic: Topic, rows: readonly LiveEventRow[]): Promise<Named> {
  const of = (...events: string[]) => rows.filter(({ event }) => events.includes(event)).map(({ data }) => data);
  const seqs = of("message").map(({ seq }) => seq as number);
  const callIds = of("tool_call", "tool_result").map(({ id }) => id as string);
  const isAll = topic.conversationId === EVERYTHING;
  const ids = isAll
    ? of("started", "ended").map(({ id }) => id as string)
    : of("ended", "handoff").map(() => topic.conversationId);
  const [messages, calls, conversations] = await Promise.all([
    seqs.length > 0 ? listMessages(sql, topic, seqs) : [],
    callIds.length > 0 ? listCallsById(sql, topic, callIds) : [],
    ids.length > 0 ? listConversationRows(sql, topic.ownerId, [...new Set(ids)]) : [],
  ]);
  return {
    messages: new Map(messages.map((row) => [row.seq, row])),
    calls: new Map(calls.map((row) => [row.toolCallId, row])),
    conversations: new Map(conversations.map((row) => [row.conversationId, row])),
  };
}

function toldEvent({ event, data }: LiveEventRow, topic: Topic, named: Named): Event | undefined {
  switch (event) {
    case "message": {
      const row = named.messages.get(data.seq as number);
      return row && { $case: "message", value: { seq: row.seq, message: toMessage(row) } };
    }
    case "words":
      return { $case: "words", value: wordsOf(data) };
    case "tool_call":
    case "tool_result": {
      const row = named.calls.get(data.id as string);
      if (!row) return undefined;
      const $case = event === "tool_call" ? "toolCall" : "toolResult";
      return { $case, value: { seq: row.seq, toolCall: toToolCall(row) } };
    }
    case "speaking":
      return {
        $case: "speaking",
        value: { role: ROLES[data.role as keyof typeof ROLES], isSpeaking: data.speaking === true },
      };
    case "agent":
      return {
        $case: "state",
        value: { agent: AGENT_STATES[data.state as keyof typeof AGENT_STATES], operator: undefined },
      };
    case "operator":
      return {
        $case: "state",
        value: { agent: AgentState.AGENT_STATE_UNSPECIFIED, operator: operatorState(data) },
      };
    case "handoff": {
      const onPath = named.conversations.get(topic.conversationId)?.agentPath?.[data.at as number];
      return onPath && { $case: "handoff", value: { agentId: onPath.agentId, fromSeq: onPath.fromSeq } };
    }
    case "transfer":
      return {
        $case: "transfer",
        value: { to: String(data.to ?? ""), state: TRANSFER_STATES[data.state as keyof typeof TRANSFER_STATES] },
      };
    case "started":
    case "ended": {
      const row = named.conversations.get((data.id as string) ?? topic.conversationId);
      return row && { $case: event, value: toConversation(row, []) };
    }
    default:
      return undefined;
  }
}

export function wordsOf({ seq, role, offset, text }: Record<string, unknown>) {
  return {
    seq: Number(seq),
    role: ROLES[role as keyof typeof ROLES],
    offset: Number(offset),
    text: String(text),
  };
}
