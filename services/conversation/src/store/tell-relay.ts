import type { Sql } from "@parley/shared/db/database";
import { announce } from "@parley/shared/jobs/announce";

/** The event relay's job and queue (src/events/relay.ts). */
export const RELAY = "relay-events";

/**
 * Tells the processes that the relay may be due. For whoever has ended conversations: if the relay was at rest, the database has made
 * it due (0005_conversation_events).
 */
export function tellRelay(sql: Sql): void {
  announce(sql, [RELAY]);
}
