import type { Sql } from "@parley/shared/db/database";
import type { RunStatus, TestDefinition } from "@parley/shared/domain/tests";
import { JSON_AS_WRITTEN } from "../../store/agents.ts";

export interface AttemptKey {
  ownerId: string;
  runId: string;
  place: number;
}

/** An attempt as it was begun. */
export interface HeldAttempt extends AttemptKey {
  token: string;
}

export interface NewAttempt extends AttemptKey {
  testId: string;
  attempt: number;
  name: string;
  required: boolean;
  /** Of a replay: what does not depend on the conversation. */
  definition: TestDefinition;
  /** What a pass of the test opens the gate for (score.ts); null for a replay. */
  passKey: string | null;
}

interface AttemptRow extends Omit<NewAttempt, "definition"> {
  /** How many attempts of the test must pass. */
  passAtLeast: number;
  status: RunStatus;
  /** How often it was begun. */
  starts: number;
  conversationId: string | null;
  outcome: AttemptOutcome | null;
  startedAt: Date | null;
  endedAt: Date | null;
}

/** What came of an attempt, as the API shows it. */
type AttemptOutcome = Readonly<Record<string, unknown>>;

/** Without what was said. */
export type AttemptSummary = Omit<AttemptRow, "outcome"> & { outcome?: AttemptOutcome | null };

/** A test of a run, with the statuses of its attempts. */
export interface TestOfRun extends Pick<AttemptRow, "runId" | "testId" | "name" | "required" | "passAtLeast"> {
  statuses: RunStatus[];
}

/** How the conversations of a run stand. */
export interface AttemptCounts {
  ended: number;
  total: number;
  failed: number;
  errors: number;
}

export type AttemptToHold = AttemptSummary & Pick<NewAttempt, "definition">;

// Without the definition: a run has hundreds of attempts, each with one.
const summary = (sql: Sql) => sql`
  owner_id, run_id, place, test_id, attempt, name, required, pass_at_least, pass_key, status, starts, conversation_id,
  started_at, ended_at`;

export async function insertAttempts(sql: Sql, attempts: readonly NewAttempt[]): Promise<void> {
  await sql`
    insert into test_attempts ${sql(
      attempts.map((row) => ({
        owner_id: row.ownerId,
        run_id: row.runId,
        place: row.place,
        test_id: row.testId,
        attempt: row.attempt,
        name: row.name,
        required: row.required,
        definition: row.attempt === 1 ? sql.typed(row.definition as never, JSON_AS_WRITTEN) : null,
        status: "QUEUED",
        pass_at_least: row.definition.pass_at_least,
        pass_key: row.passKey,
      })),
    )}`;
}

/**
 * In their order, with what was said as far as it fits into `OUTCOMES_BYTES_MAX`, first of those that did not pass.
 * @param testId only of this test, if not empty
 */
export async function listAttempts(sql: Sql, ownerId: string, runId: string, testId: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select ${summary(sql)}, case
        when sum(octet_length(outcome::text)) over (order by status = 'PASSED', place) <= ${OUTCOMES_BYTES_MAX} then outcome
      end as outcome
    from test_attempts
    where owner_id = ${ownerId} and run_id = ${runId} and (${testId} = '' or test_id = ${testId}) order by place`;
}

/** What was said in the conversations of one answer. */
const OUTCOMES_BYTES_MAX = 3 * 1024 * 1024;

export async function listAttemptSummaries(
  sql: Sql,
  { ownerId, runId }: Pick<AttemptKey, "ownerId" | "runId">,
): Promise<AttemptSummary[]> {
  return sql<AttemptSummary[]>`
    select ${summary(sql)} from test_attempts where owner_id = ${ownerId} and run_id = ${runId} order by place`;
}

/** The tests of these runs, each run's in the order of their first attempts. */
export async function listTestsOfRuns(sql: Sql, ownerId: string, runIds: readonly string[]): Promise<TestOfRun[]> {
  return sql<TestOfRun[]>`
    select run_id, test_id, name, required, pass_at_least, array_agg(status) as statuses from test_attempts
    where owner_id = ${ownerId} and run_id = any(${runIds as string[]})
    group by run_id, test_id, name, required, pass_at_least order by run_id, min(place)`;
}

/** How the conversations of each of these runs stand. */
export async function countAttempts(
  sql: Sql,
  ownerId: string,
  runIds: readonly string[],
): Promise<(AttemptCounts & { runId: string })[]> {
  return sql<(AttemptCounts & { runId: string })[]>`
    select run_id, count(*) filter (where status not in ('QUEUED', 'RUNNING'))::integer as ended, count(*)::integer as total,
      count(*) filter (where status = 'FAILED')::integer as failed, count(*) filter (where status = 'ERROR')::integer as errors
    from test_attempts where owner_id = ${ownerId} and run_id = any(${runIds as string[]}) group by run_id`;
}

/** The attempt that a lane of the owner held when its process ended or gave it up; null if there is none. */
export async function findAbandoned(
  sql: Sql,
  ownerId: string,
  lane: number,
): Promise<(HeldAttempt & { isAsking: boolean }) | null> {
  const [row] = await sql<(HeldAttempt & { isAsking: boolean })[]>`
    select owner_id, run_id, place, token, is_asking from test_attempts
    where owner_id = ${ownerId} and lane = ${lane} and token is not null limit 1`;
  return row ?? null;
}

/** Lets an attempt that was abandoned wait again. @returns whether it still ran as it was begun */
export async function requeueAttempt(tx: Sql, { ownerId, runId, place, token }: HeldAttempt): Promise<boolean> {
  const { count } = await tx`
    update test_attempts set status = 'QUEUED', lane = null, token = null, started_at = null
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and status = 'RUNNING' and token = ${token}`;
  return count > 0;
}

/** The run of the owner's oldest attempt that waits; null if none does. */
export async function findNextRun(sql: Sql, ownerId: string): Promise<string | null> {
  const [row] = await sql<{ runId: string }[]>`
    select run_id from test_attempts where owner_id = ${ownerId} and status = 'QUEUED' order by run_id, place limit 1`;
  return row?.runId ?? null;
}

/** The same attempt, within a run that is locked; null if another lane was first. */
export async function findNextAttempt(
  tx: Sql,
  { ownerId, runId }: Pick<AttemptKey, "ownerId" | "runId">,
): Promise<AttemptToHold | null> {
  const [row] = await tx<AttemptToHold[]>`
    select ${summary(tx)}, (
        select definition from test_attempts first_attempt
        where owner_id = ${ownerId} and run_id = ${runId} and test_id = test_attempts.test_id and attempt = 1 limit 1
      ) as definition
    from test_attempts
    where owner_id = ${ownerId} and run_id = ${runId} and status = 'QUEUED' order by place limit 1`;
  return row ?? null;
}

/** @param token names this beginning and its conversation */
export async function beginAttempt(
  tx: Sql,
  { ownerId, runId, place }: AttemptKey,
  { lane, token, now }: { lane: number; token: string; now: Date },
): Promise<void> {
  await tx`
    update test_attempts set status = 'RUNNING', lane = ${lane}, starts = starts + 1, token = ${token}, is_asking = false,
      started_at = ${now}
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place}`;
}

/** Whether an attempt still runs as it was begun: it was not cancelled, nor begun anew by another process. */
export async function isCurrent(sql: Sql, { ownerId, runId, place }: AttemptKey, token: string): Promise<boolean> {
  const rows = await sql`
    select from test_attempts
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and status = 'RUNNING' and token = ${token}`;
  return rows.length > 0;
}

/** Notes that its judge or simulated user is about to be asked. @returns whether it still runs as it was begun */
export async function noteAsking(sql: Sql, { ownerId, runId, place }: AttemptKey, token: string): Promise<boolean> {
  const { count } = await sql`
    update test_attempts set is_asking = true
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and status = 'RUNNING' and token = ${token}`;
  return count > 0;
}

/** Notes that the answer has come. @returns false if it was given up before, and counts as one of unknown cost */
export async function noteAnswered(sql: Sql, { ownerId, runId, place, token }: HeldAttempt): Promise<boolean> {
  const { count } = await sql`
    update test_attempts set is_asking = false
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and token = ${token}`;
  return count > 0;
}

/** A beginning that a process gives up in order to stop is not one too many. */
export async function forgiveStart(sql: Sql, { ownerId, runId, place }: AttemptKey, token: string): Promise<void> {
  await sql`
    update test_attempts set starts = starts - 1
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and status = 'RUNNING' and token = ${token}`;
}

export interface EndedAttempt {
  status: RunStatus;
  conversationId: string | null;
  outcome: AttemptOutcome;
}

/** Ends an attempt that still runs as it was begun. @returns whether it did */
export async function endAttempt(
  tx: Sql,
  { ownerId, runId, place }: AttemptKey,
  token: string,
  { status, conversationId, outcome }: EndedAttempt,
  now: Date,
): Promise<boolean> {
  const { count } = await tx`
    update test_attempts set status = ${status}, conversation_id = ${conversationId}, token = null,
      outcome = ${tx.typed(outcome as never, JSON_AS_WRITTEN)}, ended_at = ${now}
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and status = 'RUNNING' and token = ${token}`;
  return count > 0;
}

/** Notes the conversation of an attempt that was cancelled while it ran. @returns whether it was, the first time */
export async function closeCancelled(
  tx: Sql,
  { ownerId, runId, place }: AttemptKey,
  token: string,
  conversationId: string | null,
): Promise<boolean> {
  const { count } = await tx`
    update test_attempts set conversation_id = ${conversationId}, token = null
    where owner_id = ${ownerId} and run_id = ${runId} and place = ${place} and status = 'CANCELLED' and token = ${token}`;
  return count > 0;
}

/** Cancels the attempts of a run that wait, or with `alsoRunning` all that have not ended. @returns how many */
export async function cancelAttempts(
  tx: Sql,
  { ownerId, runId }: { ownerId: string; runId: string },
  { alsoRunning, now }: { alsoRunning: boolean; now: Date },
): Promise<number> {
  const { count } = await tx`
    update test_attempts set status = 'CANCELLED', ended_at = ${now}
    where owner_id = ${ownerId} and run_id = ${runId}
      and (status = 'QUEUED' or (${alsoRunning} and status = 'RUNNING'))`;
  return count;
}
