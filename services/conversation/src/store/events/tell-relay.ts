import type { Sql } from "@parley/shared/db/database";
import { announce } from "@parley/shared/jobs/announce";

/** The queue of the event relay, and the id of each owner's job in it (src/events/relay.ts). */
export const RELAY = "relay-events";

/** Tells the processes of jobs that the database has enqueued: those of the owners whose conversations `sql` ended (0001_conversation). */
export function tellRelay(sql: Sql): void {
  announce(sql, [RELAY]);
}
