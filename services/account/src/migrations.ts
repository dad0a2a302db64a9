import type { Migration } from "@parley/shared/db/migrate";
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import account from "../migrations/0001_account.sql" with { type: "text" };
import secrets from "../migrations/0002_secrets.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_account", sql: [jobs, account].join("\n") },
  { name: "0002_secrets", sql: secrets },
];
