import type { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Feature } from "@parley/shared/process/feature";
import { forgetOwner } from "../rpc/forget-owner.ts";

const TABLES: readonly OwnedTable[] = [
  { name: "incoming_messages", key: ["carrier_id", "message_id"] },
  { name: "outgoing_messages", key: ["message_id"] },
  { name: "threads", key: ["carrier_id", "contact"] },
  { name: "message_days", key: ["day", "channel"] },
  { name: "sender_days", key: ["day", "channel", "sender"] },
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];

/** Deletes the threads of deleted owners, with the messages that wait in them. The reply of a turn in progress is not sent. */
export function forgetOwners(ctx: { db: Database; clock: Clock }): Feature<typeof MessagingServiceService> {
  return {
    handlers: { forgetOwner: forgetOwner(ctx) },
    queues: forgetQueue((ownerId, lease) => deleteRowsOf(ctx.db, ownerId, lease, TABLES)),
  };
}
