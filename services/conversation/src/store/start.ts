import type { Sql } from "@parley/shared/db/database";
import type { CALLING_TYPES, CONVERSATION_TYPES } from "@parley/shared/domain/api-names";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import { isUuid } from "@parley/shared/ids";
import { tellRelay } from "./events/tell-relay.ts";
import type { SessionKey } from "./session-key.ts";

/** The question to a start webhook, which is asked once, and what came of it. */
export interface Start {
  /** ISO 8601. */
  askedAt: string;
  /** Its time limit. */
  withinMs: number;
  /** Absent while it is asked. */
  outcome?: StartOutcome;
  /** What the agent says first, in place of its own greeting. */
  firstMessage?: string;
  /** BCP 47. */
  language?: string;
  voiceId?: string;
  /** The conversation is rejected with these words. */
  say?: string;
  /** Why it may not begin, for people to read. */
  refusal?: string;
}

export interface StartOutcome {
  /** Null: no response came. */
  status: number | null;
  durationMs: number;
  /** Why the answer was not used; null if it was. */
  error: string | null;
}

/** Notes the question before it is asked. Returns false if there is one already. */
export async function claimStart(sql: Sql, key: SessionKey, start: Start): Promise<boolean> {
  const claimed = await sql`
    update conversations set start = ${sql.json(start as never)}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS' and start is null
    returning 1`;
  return claimed.length > 0;
}

export interface AnsweredStart {
  start: Omit<Start, "askedAt" | "withinMs">;
  variables: Record<string, VariableValue>;
  metadata: Record<string, unknown>;
  /** The agent that it names in place of the one that was asked for; null for none. */
  agent: { agentId: string; agentVersion: number } | null;
}

/** Stores what came of the question, and ends a conversation that may not begin. Returns false if that is known already. */
export async function storeStart(sql: Sql, key: SessionKey, answered: AnsweredStart, now: Date): Promise<boolean> {
  const { start, variables, metadata, agent } = answered;
  // Setting status at all, even to the same value, fires its triggers.
  const ending =
    start.refusal === undefined
      ? sql``
      : sql`, status = 'FAILED', ended_by = 'system', notes = ${start.refusal},
          outcome = case when type in ('CHAT', 'WHATSAPP') then outcome else 'ERROR' end`;
  const other =
    agent === null
      ? sql``
      : sql`, asked_agent_id = agent_id, agent_id = ${agent.agentId}, agent_version = ${agent.agentVersion}`;
  const stored = await sql`
    update conversations set start = start || ${sql.json(start as never)}::jsonb,
      is_starting = ${start.say !== undefined || start.refusal !== undefined},
      variables = variables || ${sql.json(variables as never)}::jsonb,
      metadata = metadata || ${sql.json(metadata as never)}::jsonb,
      language = coalesce(${start.language ?? null}, language), updated_at = ${now} ${other} ${ending}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS'
      and start -> 'outcome' is null
    returning 1`;
  if (stored.length > 0) tellRelay(sql);
  return stored.length > 0;
}

/** Begins a conversation whose agent has no start webhook any more. */
export async function beginUnasked(sql: Sql, key: SessionKey, now: Date): Promise<void> {
  await sql`
    update conversations set is_starting = false, updated_at = ${now}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS'`;
  tellRelay(sql);
}

/** Stores the agent's first words of a session that was opened without; with `ended`, they are the last ones too. */
export async function storeFirstWords(
  sql: Sql,
  key: SessionKey,
  { text, isLast }: { text: string; isLast: boolean },
  now: Date,
): Promise<void> {
  const ending = isLast ? sql`, status = 'DISCONNECTED', ended_by = 'system'` : sql``;
  const count = text === "" ? 0 : 1;
  const opened = await sql`
    with opened as (
      update conversations set message_count = ${count}, last_activity_at = ${now}, updated_at = ${now} ${ending}
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS'
        and message_count = 0
      returning message_count
    ), stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select ${key.ownerId}, ${key.conversationId}, 1, 'assistant', ${text}, ${now} from opened where message_count = 1
    )
    select from opened`;
  if (isLast && opened.length > 0) tellRelay(sql);
}

/** What system variables are made of, beside the time. */
export interface Facts {
  /** Null while there is no such conversation. */
  type: keyof typeof CONVERSATION_TYPES | null;
  isWidget: boolean | null;
  callingType: keyof typeof CALLING_TYPES | null;
  fromMobileNumber: string | null;
  toMobileNumber: string | null;
  /** When the first word was heard; null before. */
  beganAt: Date | null;
  /** The owner's; null for none. */
  timezone: string | null;
}

export async function findFacts(sql: Sql, { ownerId, conversationId: given }: SessionKey): Promise<Facts> {
  // A runtime may not have chosen an id yet.
  const conversationId = isUuid(given) ? given : null;
  const [facts] = await sql<[Facts]>`
    select type, is_widget, calling_type, from_mobile_number, to_mobile_number, (
      select coalesce(started_at, created_at) from messages
      where owner_id = ${ownerId} and conversation_id = ${conversationId}::uuid and seq = 1
    ) as began_at, (select timezone from owner_settings where owner_id = ${ownerId}) as timezone
    from (select) as always left join conversations on owner_id = ${ownerId} and conversation_id = ${conversationId}::uuid`;
  return facts;
}
