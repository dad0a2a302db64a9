import type { Migration } from "@parley/shared/db/migrate";
import folds from "@parley/shared/folds/soon.sql" with { type: "text" };
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import storedChanges from "@parley/shared/stored-bytes/changes.sql" with { type: "text" };
import conversations from "../migrations/0001_conversation.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_conversation", sql: [jobs, idempotency, folds, storedChanges, conversations].join("\n") },
];
