import postgres from "postgres";
import { isWatched } from "../telemetry/spans.ts";
import { observed } from "../telemetry/statements.ts";
import { connectPostgres } from "./connect.ts";
import { withKnownTransactions } from "./open-transactions.ts";

/** Also what a transaction is given: a store function takes either. */
export type Sql = postgres.Sql | postgres.TransactionSql;
export type Database = postgres.Sql;
/** A part of a statement, made by the same tag. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

export interface DatabaseSettings {
  url: string;
  /** Connections at most. */
  max?: number;
  /** Off behind a transaction-mode pooler. */
  prepare?: boolean;
  /** Shown in pg_stat_activity. */
  name: string;
  /**
   * Milliseconds after which a connection that owes an answer is given up: a host that vanished closes nothing, and the system tells
   * of it after a quarter of an hour. Without it answers are waited for.
   */
  answerWithinMs?: number;
}

/**
 * A pool of connections that reconnects by itself. bigint comes back as number: no count or size here passes 2^53.
 * The role's own search_path finds its schema.
 */
export function openDatabase({ url, max = 10, prepare = true, name, answerWithinMs }: DatabaseSettings): Database {
  const sql = connectPostgres(url, {
    max,
    prepare,
    connect_timeout: 5,
    answer_timeout: answerWithinMs === undefined ? null : answerWithinMs / 1_000,
    idle_timeout: 60,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    connection: { application_name: name },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    // Column names only: the keys inside a JSON value are the users'.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    onnotice: () => {},
  });
  const known = withKnownTransactions(sql);
  return isWatched() ? observed(known) : known;
}
