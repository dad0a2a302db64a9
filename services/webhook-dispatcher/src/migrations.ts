import type { Migration } from "@parley/shared/db/migrate";
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import storedChanges from "@parley/shared/stored-bytes/changes.sql" with { type: "text" };
import webhooks from "../migrations/0001_webhooks.sql" with { type: "text" };
import forgottenConversations from "../migrations/0002_forgotten_conversations.sql" with { type: "text" };
import eventBytes from "../migrations/0006_event_bytes.sql" with { type: "text" };
import retrySchedules from "../migrations/0007_retry_schedules.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_jobs", sql: jobs },
  { name: "0001_webhooks", sql: webhooks },
  { name: "0002_forgotten_conversations", sql: forgottenConversations },
  { name: "0003_jobs_in_turn", sql: jobsInTurn },
  { name: "0004_jobs_announced", sql: jobsAnnounced },
  { name: "0005_stored_changes", sql: storedChanges },
  { name: "0006_event_bytes", sql: eventBytes },
  { name: "0007_retry_schedules", sql: retrySchedules },
];
