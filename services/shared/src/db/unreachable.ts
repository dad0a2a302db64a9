import { ServiceError } from "../errors.ts";

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection lost, going down, not yet up, read-only as after a failover, out of disk, memory or connections. */
const SQLSTATES = /^(08...|57P0[1-5]|25006|53[123]00)$/;
/** Codes of the `postgres` package. */
const DRIVER = /^(CONNECTION_(CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT)$/;
/** Codes of the operating system and the resolver. */
const SYSTEM = /^(ECONN|EHOST|ENET|EPIPE|ENOENT|ENOTFOUND|ETIMEDOUT|EAI_AGAIN)/;

/** query_canceled: the role's statement_timeout ended it (provision.ts). */
const OUT_OF_TIME = "57014";

export function isOutOfTime(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === OUT_OF_TIME;
}

/** Whether a query failed because its database was unreachable, so that it may succeed later. */
export function isUnreachableDatabase(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (SQLSTATES.test(code) || DRIVER.test(code)) return true;
  // Any file or socket can fail like this; the driver marks errors of queries.
  return SYSTEM.test(code) && "query" in (error as Error);
}

/** The error that a user gets. @param cause the query's error */
export function databaseUnreachable(cause: unknown): ServiceError {
  return new ServiceError("unavailable", "The database is unreachable. Try again.", { retryAfterMs: 1000, cause });
}
