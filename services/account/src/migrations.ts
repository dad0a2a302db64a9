import type { Migration } from "@parley/shared/db/migrate";
import account from "../migrations/0001_account.sql" with { type: "text" };
import sessions from "../migrations/0002_sessions.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001_account", sql: account },
  { name: "0002_sessions", sql: sessions },
];
