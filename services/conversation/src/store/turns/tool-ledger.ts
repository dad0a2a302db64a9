import type { Sql } from "@parley/shared/db/database";
import { type AgentOnPath, takingOver } from "../agent-path.ts";
import { tellRelay } from "../events/tell-relay.ts";
import type { SessionKey } from "../session-key.ts";
import type { ToolCallRow, ToolCallState } from "./kept-tool-calls.ts";
import { METADATA_BYTES_MAX } from "./take-turns.ts";
import { callColumns, columnsOf, type StoredToolCall } from "./tool-calls.ts";

/** Whose calls they are: a reply's in a turn in progress, or those of a runtime that asks the model itself. */
export interface CallingTurn extends SessionKey {
  /** Null for a runtime's call, which needs no turn. */
  turnId: string | null;
  /** Of the reply; null for the next message. */
  replySeq: number | null;
}

/** A call whose tool takes time, as it is stored before it is made. */
export interface NewToolCall extends ToolCallRow {
  /** The model is told that it runs, and its result later. */
  isBackground: boolean;
  /** When the client got it, which makes it; null for other calls. */
  handedAt: Date | null;
  /** Until when the client may give its result; null if none is waited for. */
  answerBy: Date | null;
}

/** Stores the calls of a round before they are made. Returns false when the turn, or the conversation, is over. */
export async function insertToolCalls(
  sql: Sql,
  { ownerId, conversationId, turnId, replySeq }: CallingTurn,
  calls: readonly NewToolCall[],
  now: Date,
): Promise<boolean> {
  const inserted = await sql`
    with open as (
      update conversations set has_tool_calls = true, last_activity_at = ${now}, updated_at = ${now}
      where owner_id = ${ownerId} and conversation_id = ${conversationId} and status = 'IN_PROGRESS'
        and ${turnId === null ? sql`true` : sql`turn_id = ${turnId}`}
      returning coalesce(${replySeq}::integer, message_count + 1) as reply_seq
    )
    insert into tool_calls (owner_id, conversation_id, seq, ${callColumns(sql)}, is_background, handed_at, answer_by)
    select ${ownerId}, ${conversationId}, reply_seq, made.*
    from open, unnest(
      ${columnsOf(sql, calls)},
      ${calls.map(({ isBackground }) => String(isBackground))}::text[]::boolean[],
      ${calls.map(({ handedAt }) => handedAt?.toISOString() ?? null)}::text[]::timestamptz[],
      ${calls.map(({ answerBy }) => answerBy?.toISOString() ?? null)}::text[]::timestamptz[]
    ) as made
    returning 1`;
  return inserted.length > 0;
}

export interface ToolCallKey extends SessionKey {
  toolCallId: string;
}

/** Notes that a call that has waited is made now. Returns false when it is no longer to be made. */
export async function startToolCall(sql: Sql, key: ToolCallKey): Promise<boolean> {
  const started = await sql`
    update tool_calls set state = 'RUNNING' where ${sqlKey(sql, key)} and state = 'REQUESTED' returning 1`;
  return started.length > 0;
}

/** Takes over a call whose process died, to make it once more. Returns false when another turn did. */
export async function retakeToolCall(sql: Sql, key: ToolCallKey, attempts: number): Promise<boolean> {
  const taken = await sql`
    update tool_calls set attempts = attempts + 1
    where ${sqlKey(sql, key)} and state = 'RUNNING' and attempts = ${attempts} returning 1`;
  return taken.length > 0;
}

/** How a call ended. */
export interface ToolCallEnd
  extends Pick<ToolCallRow, "result" | "isOutside" | "isCut" | "status" | "note" | "durationMs"> {
  state: Exclude<ToolCallState, "REQUESTED" | "RUNNING">;
  /** Attempts besides those that are counted already. */
  furtherAttempts: number;
  /** Values that its result gives the conversation's dynamic variables, and the result if the conversation has no room for them. */
  assigning: { assignments: Readonly<Record<string, unknown>>; resultWithout: string } | null;
  /** The agent that takes over the conversation; null if it stays with the one that called. */
  takesOver: AgentOnPath | null;
  /** What the one that called says before that; the call stands behind it. */
  charactersSaid: number;
}

/**
 * Stores the result of a call, also of one that was given up as unknown: the model is then told later.
 * @returns whether the conversation has the values that it assigns; null when the call had ended otherwise
 */
export async function endToolCall(
  sql: Sql,
  key: ToolCallKey,
  end: ToolCallEnd,
  now: Date,
): Promise<{ isAssigned: boolean } | null> {
  const { assigning } = end;
  const result = assigning
    ? sql`case when exists (select from assigned) then ${end.result}::text else ${assigning.resultWithout}::text end`
    : sql`${end.result}`;
  // Triggers note the end for statistics, and the event of a failure.
  const [stored] = await sql<{ isAssigned: boolean }[]>`
    with ${assigning ? sql`${assigned(sql, key, assigning.assignments, now)}, ` : sql``} ended as (
      update tool_calls set state = ${end.state}, result = ${result}, is_outside = ${end.isOutside},
        is_cut = is_cut or ${end.isCut}, status = ${end.status}::integer, note = ${end.note}::text,
        attempts = attempts + ${end.furtherAttempts}::integer, duration_ms = ${end.durationMs}::integer, running_until = null,
        ended_at = ${now},
        place = place + case when ${end.charactersSaid}::integer = 0 then 0 else ${end.charactersSaid}::integer + least(place, 1) end,
        is_background = is_background or state = 'UNKNOWN'
      where ${sqlKey(sql, key)} and ${isOpen(sql)}
      returning 1
    ) ${end.takesOver ? sql`, ${handingOver(sql, key, end.takesOver, now)}` : sql``}
    select ${assigning ? sql`exists (select from assigned)` : sql`true`} as is_assigned from ended`;
  if (end.state === "FAILED") tellRelay(sql);
  return stored ?? null;
}

function assigned(sql: Sql, key: ToolCallKey, assignments: object, now: Date) {
  const values = sql`${sql.json(assignments as never)}::jsonb`;
  return sql`assigned as (
    update conversations set variables = variables || ${values}, updated_at = ${now}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}
      and exists (select from tool_calls where ${sqlKey(sql, key)} and ${isOpen(sql)})
      and octet_length((variables || ${values})::text) <= ${METADATA_BYTES_MAX}
    returning 1
  )`;
}

/** Whether the call may still end. */
function isOpen(sql: Sql) {
  return sql`state in ('REQUESTED', 'RUNNING', 'UNKNOWN')`;
}

/** In the same statement, so that nobody takes over without the call's result, and the result is never that of another agent. */
function handingOver(sql: Sql, { ownerId, conversationId }: SessionKey, agent: AgentOnPath, now: Date) {
  return sql`handed as (
    update conversations set ${takingOver(sql, sql`${sql.json(agent as never)}::jsonb`)}, updated_at = ${now}
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status = 'IN_PROGRESS' and exists (select from ended)
  )`;
}

/** Keeps the calls that are made although no turn waits for them. */
export async function holdToolCalls(sql: Sql, keys: readonly ToolCallKey[], until: Date): Promise<void> {
  await sql`
    update tool_calls set running_until = ${until}
    from unnest(
      ${keys.map(({ ownerId }) => ownerId)}::text[],
      ${keys.map(({ conversationId }) => conversationId)}::uuid[],
      ${keys.map(({ toolCallId }) => toolCallId)}::text[]
    ) as held (owner_id, conversation_id, tool_call_id)
    where tool_calls.owner_id = held.owner_id and tool_calls.conversation_id = held.conversation_id
      and tool_calls.tool_call_id = held.tool_call_id and state in ('REQUESTED', 'RUNNING')`;
}

/** A call as the model of a later turn is told of it. */
export interface EarlierToolCall extends StoredToolCall {
  isBackground: boolean;
  toldSeq: number | null;
  /** Whether a process makes it now. */
  isLive: boolean;
  answerBy: Date | null;
}

/** What is read of a result that has no room. */
const SHORT_CHARACTERS = 1_000;
/** No context window holds more calls than this. */
const CALLS_READ_MAX = 1_000;

/** The newest calls of a conversation, in order. Results beyond `maxBytes`, counted from the newest call, are shortened. */
export async function listEarlierCalls(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  maxBytes: number,
  now: Date,
): Promise<EarlierToolCall[]> {
  return sql<EarlierToolCall[]>`
    select seq, tool_call_id, round, place, kind, name, arguments, state, is_outside, is_cut, status, note, attempts, started_ms,
      duration_ms, mock, is_background, told_seq, answer_by, coalesce(running_until >= ${now}, false) as is_live,
      case when total <= ${maxBytes} then result else left(result, ${SHORT_CHARACTERS}) end as result
    from (
      select *, sum(bytes) over (order by tool_call_id desc) as total from tool_calls
      where owner_id = ${ownerId} and conversation_id = ${conversationId}
      order by tool_call_id desc limit ${CALLS_READ_MAX}
    ) as newest
    order by tool_call_id`;
}

/** Which of these calls nobody makes anymore, in any order; those that do not exist, too. */
export async function listEndedCalls(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  toolCallIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const open = await sql<{ toolCallId: string }[]>`
    select tool_call_id from tool_calls join conversations using (owner_id, conversation_id)
    where owner_id = ${ownerId} and conversation_id = ${conversationId}
      and tool_call_id = any(${toolCallIds as string[]}::text[]) and state in ('REQUESTED', 'RUNNING')
      and coalesce(running_until, turn_until) >= ${now}`;
  const running = new Set(open.map(({ toolCallId }) => toolCallId));
  return toolCallIds.filter((id) => !running.has(id));
}

/** Notes that the model is told of calls that still run, and of results before message `toldSeq`. */
export async function noteTold(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  told: { running: readonly string[]; results: readonly string[]; seq: number },
): Promise<void> {
  await sql`
    update tool_calls set is_background = true,
      told_seq = case when tool_call_id = any(${told.results as string[]}::text[]) then ${told.seq}::integer end
    where owner_id = ${ownerId} and conversation_id = ${conversationId}
      and tool_call_id = any(${[...told.running, ...told.results]}::text[]) and told_seq is null`;
}

function sqlKey(sql: Sql, { ownerId, conversationId, toolCallId }: ToolCallKey) {
  return sql`owner_id = ${ownerId} and conversation_id = ${conversationId} and tool_call_id = ${toolCallId}`;
}
