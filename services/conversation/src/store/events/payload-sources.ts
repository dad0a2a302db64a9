import type { Sql } from "@parley/shared/db/database";
import type { ConversationRow } from "../conversations.ts";
import type { MessageRow } from "../messages.ts";
import type { SessionKey } from "../session-key.ts";
import type { ToolCallRow } from "../turns/kept-tool-calls.ts";
import {
  ANALYSIS_BYTES_MAX,
  MESSAGE_CHARACTERS_MAX,
  PAYLOAD_BYTES_MAX,
  VARIABLES_BYTES_MAX,
} from "./payload-bounds.ts";

/** The data of an event's payload. */
export interface PayloadSource extends ConversationSource {
  /** Oldest first. */
  messages: readonly PayloadMessage[];
  /** Whether earlier messages or the end of a long one are left out. */
  isTranscriptTruncated: boolean;
}

export interface PayloadMessage extends Pick<MessageRow, "seq" | "role" | "content" | "createdAt" | "knowledge"> {
  /** What the agent's models called for this reply, or after this message. */
  toolCalls?: readonly ToolCallRow[];
}

type ConversationSource = Pick<
  ConversationRow,
  | "ownerId"
  | "conversationId"
  | "id"
  | "agentId"
  | "agentVersion"
  | "agentPath"
  | "type"
  | "status"
  | "callingType"
  | "notes"
  | "analysis"
  | "toMobileNumber"
  | "fromMobileNumber"
  | "telephonyProvider"
  | "recordingUrl"
  | "durationSeconds"
  | "isTestCall"
  | "scheduledCall"
> & {
  /** Null if there are none, or too many. */
  variables: ConversationRow["variables"] | null;
  hasToolCalls: boolean;
  /** Whether fields of the analysis are left out. */
  isAnalysisTruncated: boolean;
};

interface SaidRow extends PayloadMessage, SessionKey {
  isTruncated: boolean;
}

/** The shortest JSON of a message around its text, which bounds how many messages fit. */
const MESSAGE_BYTES_MIN = 70;
const MESSAGES_MAX = Math.floor(PAYLOAD_BYTES_MAX / MESSAGE_BYTES_MIN);

/** Lists the sources of conversations of any owners, each cut to what a payload holds. Skips conversations that no longer exist. */
export async function listPayloadSources(sql: Sql, keys: readonly SessionKey[]): Promise<PayloadSource[]> {
  if (keys.length === 0) return [];
  const [conversations, said] = await Promise.all([listConversationSources(sql, keys), listSaid(sql, keys)]);
  const transcripts = Map.groupBy(said, keyOf);
  return conversations.map((conversation) => {
    const messages = transcripts.get(keyOf(conversation)) ?? [];
    const isTranscriptTruncated = messages.some(({ seq, isTruncated }, at) => isTruncated || (at === 0 && seq > 1));
    return { ...conversation, messages, isTranscriptTruncated };
  });
}

/** Includes the owner because two owners may use the same conversation id. */
export function keyOf({ ownerId, conversationId }: SessionKey): string {
  return `${ownerId} ${conversationId}`;
}

/** Cuts an analysis that is too long to its shortest fields, as many as fit. */
async function listConversationSources(sql: Sql, keys: readonly SessionKey[]): Promise<ConversationSource[]> {
  return sql<ConversationSource[]>`
    select owner_id, conversation_id, id, agent_id, agent_version, agent_path, type, status, calling_type, notes, to_mobile_number,
      from_mobile_number, telephony_provider, recording_url, duration_seconds, is_test_call, scheduled_call, has_tool_calls,
      case when variables <> '{}' and octet_length(variables::text) <= ${VARIABLES_BYTES_MAX} then variables end as variables,
      coalesce(octet_length(analysis::text) > ${ANALYSIS_BYTES_MAX}, false) as is_analysis_truncated,
      case when octet_length(analysis::text) <= ${ANALYSIS_BYTES_MAX} then analysis else (
        select jsonb_agg(item order by at)
        from (
          select item, at, sum(octet_length(item::text) + 2) over (order by octet_length(item::text), at) as bytes
          from jsonb_array_elements(analysis) with ordinality as items (item, at)
        ) as shortest_first
        where bytes <= ${ANALYSIS_BYTES_MAX}
      ) end as analysis
    from conversations where (owner_id, conversation_id) in (${keysOf(sql, keys)})`;
}

/** The newest messages of each conversation, in order. */
async function listSaid(sql: Sql, keys: readonly SessionKey[]): Promise<SaidRow[]> {
  // Loads a long text only when the message may be included; its length is known without it.
  return sql<SaidRow[]>`
    select owner_id, conversation_id, said.*
    from (${keysOf(sql, keys)}) as wanted (owner_id, conversation_id)
    cross join lateral (
      select seq, role, content, created_at, knowledge, is_truncated
      from (
        select seq, role, content, created_at, knowledge, is_truncated,
          sum(octet_length(content) + ${MESSAGE_BYTES_MIN}::integer + coalesce(octet_length(knowledge::text), 0)) over (order by seq desc) as bytes
        from (
          select seq, role, created_at, knowledge, left(content, ${MESSAGE_CHARACTERS_MAX}) as content,
            char_length(content) > ${MESSAGE_CHARACTERS_MAX} as is_truncated
          from (
            select seq, role, content, created_at, knowledge,
              sum(least(octet_length(content), ${MESSAGE_CHARACTERS_MAX}) + ${MESSAGE_BYTES_MIN}::integer)
                over (order by seq desc) as bytes_min
            from (
              select seq, role, content, created_at, knowledge from messages
              where owner_id = wanted.owner_id and conversation_id = wanted.conversation_id
              order by seq desc limit ${MESSAGES_MAX}
            ) as newest
          ) as measured
          where bytes_min <= ${PAYLOAD_BYTES_MAX}
        ) as shortened
      ) as summed
      where bytes <= ${PAYLOAD_BYTES_MAX}
    ) as said
    order by owner_id, conversation_id, seq`;
}

function keysOf(sql: Sql, keys: readonly SessionKey[]) {
  return sql`
    select * from unnest(
      ${keys.map((key) => key.ownerId)}::text[], ${keys.map((key) => key.conversationId)}::uuid[]
    )`;
}
