import type { Migration } from "@parley/shared/db/migrate";
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import { IDEMPOTENCY_BYTES } from "@parley/shared/stored-bytes/migrations";
import threads from "../migrations/0001_threads.sql" with { type: "text" };
import widgetDays from "../migrations/0002_widget_days.sql" with { type: "text" };
import deletedOwners from "../migrations/0003_deleted_owners.sql" with { type: "text" };
import whatsAppDays from "../migrations/0004_whatsapp_days.sql" with { type: "text" };
import senderDays from "../migrations/0007_sender_days.sql" with { type: "text" };
import changedAt from "../migrations/0008_changed_at.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_jobs", sql: jobs },
  { name: "0000_jobs_in_turn", sql: jobsInTurn },
  { name: "0000_idempotency", sql: idempotency },
  { name: "0001_threads", sql: threads },
  { name: "0002_widget_days", sql: widgetDays },
  { name: "0003_deleted_owners", sql: deletedOwners },
  { name: "0004_whatsapp_days", sql: whatsAppDays },
  { name: "0005_idempotency_bytes", ...IDEMPOTENCY_BYTES },
  { name: "0006_jobs_announced", sql: jobsAnnounced },
  { name: "0007_sender_days", sql: senderDays },
  { name: "0008_changed_at", sql: changedAt },
];
