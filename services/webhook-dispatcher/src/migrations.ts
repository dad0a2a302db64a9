import type { Migration } from "@parley/shared/db/migrate";
import folds from "@parley/shared/folds/soon.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import storedChanges from "@parley/shared/stored-bytes/changes.sql" with { type: "text" };
import webhooks from "../migrations/0001_webhook-dispatcher.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_webhook-dispatcher", sql: [jobs, folds, storedChanges, webhooks].join("\n") },
];
