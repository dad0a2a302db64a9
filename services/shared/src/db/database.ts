import postgres from "postgres";
import { isWatched } from "../telemetry/spans.ts";
import { observed } from "../telemetry/statements.ts";
import { withAfterCommit } from "./after-commit.ts";
import { connectPostgres } from "./connect.ts";
import { withKnownTransactions } from "./open-transactions.ts";

/** A pool or a transaction: store functions take either. */
export type Sql = postgres.Sql | postgres.TransactionSql;
export type Database = postgres.Sql;
/** A part of a statement, built with the same tag. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

interface DatabaseSettings {
  url: string;
  /** Most connections. */
  max?: number;
  /** Off behind a transaction-mode pooler. */
  prepare?: boolean;
  /** Shown in pg_stat_activity. */
  name: string;
  /**
   * Milliseconds after which a connection without an answer counts as lost: a vanished host closes nothing, and the
   * system reports it only after a quarter of an hour. No limit by default.
   */
  answerWithinMs?: number;
}

/**
 * Opens a pool of connections that reconnects by itself. Reads bigint as number: no count or size here exceeds 2^53.
 * The role's own search_path selects its schema. Each connection has one query at a time; more wait for any connection.
 */
export function openDatabase({ url, max = 10, prepare = true, name, answerWithinMs }: DatabaseSettings): Database {
  const sql = connectPostgres(url, {
    max,
    prepare,
    // A query sent on a busy connection would wait for whatever that one waits for: a lock, or an owner's long search.
    max_pipeline: 0,
    connect_timeout: 5,
    answer_timeout: answerWithinMs === undefined ? null : answerWithinMs / 1_000,
    idle_timeout: 60,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    connection: { application_name: name },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    // Converts column names only: the keys inside JSON values belong to users.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    onnotice: () => {},
  });
  const known = withAfterCommit(withKnownTransactions(sql));
  return isWatched() ? observed(known) : known;
}
