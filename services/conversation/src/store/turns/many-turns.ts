import type { Fragment, Sql } from "@parley/shared/db/database";

// Parts of statements that write several turns, of one or more owners.

/**
 * Always true. The planner has no statistics of a function's result and so expects a single row, which it joins by key;
 * of a plain list it expects ten, and scans a table that was small when the statement was planned.
 */
export function isOneRow(sql: Sql) {
  return sql`num_nulls(owner_id, conversation_id) = 0`;
}

/** Triggers then request an owner's jobs (0001_conversation) in this order, so statements do not deadlock over them. */
export function byOwner(sql: Sql, turns: readonly unknown[]) {
  return turns.length > 1 ? sql`order by owner_id` : sql``;
}

/** Those of the given turns whose session no transaction has locked, as an SQL table; it locks them. `free` is the session. */
export function notLocked(sql: Sql, condition: Fragment) {
  return sql`(
    select given.* from given join conversations as free
      on free.owner_id = given.owner_id and free.conversation_id = given.conversation_id and ${condition}
    for update of free skip locked
  ) as given`;
}
