import type { Migration } from "@parley/shared/db/migrate";
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import prompts from "../migrations/0001_prompts.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_idempotency", sql: idempotency },
  { name: "0001_prompts", sql: prompts },
];
