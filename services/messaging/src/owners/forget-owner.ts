import type { Database } from "@parley/shared/db/database";
import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Queue } from "@parley/shared/jobs/worker";

const TABLES: readonly OwnedTable[] = [
  { name: "incoming_messages", key: ["carrier_id", "message_id"] },
  { name: "outgoing_messages", key: ["message_id"] },
  { name: "threads", key: ["carrier_id", "contact"] },
  { name: "widget_days", key: ["day"] },
  { name: "whatsapp_days", key: ["day"] },
  { name: "sender_days", key: ["day", "sender"] },
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];

/** Deletes the threads of deleted owners, with the messages that wait in them. The reply of a turn in progress is not sent. */
export function forgetOwners(db: Database): Record<string, Queue> {
  return forgetQueue((ownerId, lease) => deleteRowsOf(db, ownerId, lease, TABLES));
}
